"""Gist memory: a long text becomes pages, each page gets a gist, and a question looks pages up.

intake      a document with its pages, stored
pagination  a text as pages at natural breaks
gists       the gists that wait, asked for, and kept; how far a document is
lookup      which pages a question needs
"""

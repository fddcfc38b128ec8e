"""Gist memory: a long text becomes pages, each page gets a gist, and a question looks pages up.

paging      a text as pages at natural breaks
giving      a document with its pages, stored
answers     what a model may answer when it is asked for gists
requesting  how it is asked
gists       the gists that wait, asked for and kept
deleting    one page of a document
looking_up  which pages a question needs
"""

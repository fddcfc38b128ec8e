"""Gist memory: a long text is split into pages, a model writes a gist of each, and questions find pages by their gists.

intake      checking a text, and storing it as a document with its pages
pagination  splitting a text into pages at natural breaks
gists       writing the gists that are missing; the progress of a document
lookup      finding the pages that a question needs
"""

"""Embeddings: texts as vectors of length 1, from the built-in model or a server."""

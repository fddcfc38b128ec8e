"""Embeddings: texts as vectors of length 1, by the model that is built in or by a server."""

"""Embedding: what memories and cues mean, as vectors."""

from memory.embedding.embed import embed_cue, embed_waiting, unembedded

__all__ = ["embed_cue", "embed_waiting", "unembedded"]

"""Embedding: what memories and cues mean, as vectors."""

from memory.embedding.backlog import embed_waiting, select_unembedded
from memory.embedding.spaces import embed_cue

__all__ = ["embed_cue", "embed_waiting", "select_unembedded"]

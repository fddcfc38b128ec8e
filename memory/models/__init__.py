from memory.models.embedding import Embedding
from memory.models.memory import Memory
from memory.models.recall import Recall, Recalled
from memory.models.space import Space

__all__ = ["Embedding", "Memory", "Recall", "Recalled", "Space"]

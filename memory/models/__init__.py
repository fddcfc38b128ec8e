from memory.models.consolidation import Change, Consolidation
from memory.models.core_memory import Block, Slot
from memory.models.diary_entry import DiaryEntry
from memory.models.document import Document, Page
from memory.models.embedding import Embedding, Space
from memory.models.forgotten import Forgotten
from memory.models.learning import Learning, Retraction
from memory.models.memory import Memory, Recall, Recalled
from memory.models.pursuit import Pursuit
from memory.models.revision import Revision
from memory.models.thread import Thread

__all__ = [
    "Block",
    "Change",
    "Consolidation",
    "DiaryEntry",
    "Document",
    "Embedding",
    "Forgotten",
    "Learning",
    "Memory",
    "Page",
    "Pursuit",
    "Recall",
    "Recalled",
    "Retraction",
    "Revision",
    "Slot",
    "Space",
    "Thread",
]

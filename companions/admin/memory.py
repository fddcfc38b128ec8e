from datetime import datetime

from django.contrib import admin

from companions.deletion import forget
from memory.admin import MemoryAdmin
from memory.models import Memory


@admin.register(Memory)
class ErasableMemoryAdmin(MemoryAdmin):
    """A memory that an operator may delete: from every table, and its message from every later prompt."""

    is_erasable = True

    def erase(self, thing: Memory, now: datetime) -> None:
        forget(thing, now)

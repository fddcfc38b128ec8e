"""MemoryBank's people in this process: what is said goes through `companions`, the questions to `memory.recall`."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bench.common.place import Place
from bench.memorybank.people import Person

if TYPE_CHECKING:
    from bench.memorybank.__main__ import Live


@contextmanager
def living() -> "Iterator[Live]":
    """A database of its own, and a way to live through a person's log in it."""
    with Place():
        from django.db.models import prefetch_related_objects
        from django.utils import timezone

        from accounts.models import User
        from companions.creation import create
        from companions.pasts.log_import import Line, import_log
        from memory.embedding import embed_cue, embed_waiting
        from memory.recall.recall import recall

        def live(person: Person) -> Iterator[tuple[list[str], bool]]:
            now = timezone.now() - timedelta(seconds=1)
            user, _ = User.objects.get_or_create(email="someone@example.org")
            companion = create(user, name="Juno", persona="", greeting="", tint=40, now=now)
            lines = [
                Line(
                    role=line["role"],
                    text=line["text"],
                    at=datetime.fromisoformat(line["at"]),
                    client_id=line["client_id"],
                )
                for line in person.log
            ]
            import_log(companion, lines, now)
            embed_waiting(companion.pk)
            for question in person.questions:
                found = recall(
                    companion.pk, question.text, 10, now=now, zone=user.zone, vector=embed_cue(question.text)
                )
                memories = [one.memory for one in found]
                prefetch_related_objects(memories, "message")
                messages = [one.message for one in memories]
                yield [message.client_id or "" for message in messages if message], True

        yield live

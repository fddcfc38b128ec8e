"""The socket of one person: what concerns them while no conversation is open."""

import contextlib
from typing import Any

from django.db import DatabaseError
from django.utils import timezone, translation

from companions.events import Event, group_of_person
from companions.life.outreach import count_unread
from companions.sockets.base import PersonSocket
from database.threads import in_thread
from safety import notices


class MeConsumer(PersonSocket):
    """Unread counts, what companions wrote of themselves, and notices; it takes no frames."""

    look_seconds = 5.0

    def find(self) -> str | None:
        return group_of_person(self.user.pk)

    async def opened(self) -> None:
        with contextlib.suppress(DatabaseError):
            await self._count()
            for frame in await in_thread(self._notices):
                await self.give(frame)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Whatever a client sends says only that it is there."""
        if self.is_open and not await self.is_too_fast():
            self.wait_for_frames()

    async def hear(self, event: Event) -> None:
        if event["type"] == "person.unread":
            await self._count()
        else:
            await self.send(event["frame"])

    async def _count(self) -> None:
        counts = await in_thread(count_unread, self.user)
        companions = {str(id): count for id, count in counts.items()}
        await self.give({"type": "unread", "total": sum(counts.values()), "companions": companions})

    def _notices(self) -> list[dict[str, Any]]:
        with translation.override(self.user.language or "en"):
            return [notices.as_frame(one) for one in notices.list_unseen(self.user, timezone.now())]

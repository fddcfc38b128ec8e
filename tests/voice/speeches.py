"""What was said, to be read aloud, and asking for it as a page does."""

import asyncio
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from companions.conversations.messages import open_session, say
from companions.models import Companion, Message, Reply
from companions.replies.checkpoint import Said
from companions.replies.finish import finish
from companions.replies.lifecycle import start
from files.models import StoredFile
from files.storage import private
from jobs.background import TASKS
from tests.voice.recordings import Browser
from voice.speech.sound import store


@transaction.atomic
def answered(companion: Companion, answer: str, emotions: list[dict[str, object]] | None = None) -> Reply:
    """A reply that is done, made without any model."""
    now = timezone.now()
    reply = start(companion, "Tell me", None, now).reply
    Reply.objects.filter(pk=reply.pk).update(state=Reply.State.THINKING, lease_by="a test")
    said = Said(text=answer, emotions=emotions or [])
    ended = finish(reply, Reply.State.DONE, said, now, held_by="a test")
    assert ended
    return ended


@transaction.atomic
def begun(companion: Companion, text: str = "") -> Reply:
    """A reply that another process makes, and goes on making."""
    now = timezone.now()
    reply = start(companion, "Tell me", None, now).reply
    held = {"lease_by": "a test", "lease_at": now + timedelta(hours=1)}
    Reply.objects.filter(pk=reply.pk).update(state=Reply.State.STREAMING, text=text, **held)
    reply.refresh_from_db()
    return reply


def said_by_itself(companion: Companion, text: str) -> Message:
    """A message that no reply became, like a greeting."""
    now = timezone.now()
    session = open_session(companion.conversation, now)
    fields = {"companion": companion, "conversation": companion.conversation, "session": session}
    return say(Message(**fields, role=Message.Role.ASSISTANT, text=text, said_at=now), now)


def contents() -> int:
    """How many sounds of speech the storage has."""
    return len(list(private().contents(StoredFile.Kind.SPEECH)))


async def kept() -> None:
    """Once all that was heard is kept, too."""
    while keeping := [task for task in TASKS if getattr(task.get_coro(), "__name__", "") == store.__name__]:
        await asyncio.wait(keeping)


class Listener(Browser):
    """Somebody signed in, who has things read aloud."""

    def __init__(self, user: User, companion: Companion) -> None:
        super().__init__(user, companion.pk)

    async def hear(self, thing: Reply | Message, number: int, wait: str = "5") -> Any:
        return (await self.hear_at_once(thing, number, wait, times=1))[0]

    async def hear_at_once(
        self, thing: Reply | Message, number: int, wait: str = "5", *, times: int
    ) -> list[Any]:
        """Ask so many times at the same time."""
        kind = "replies" if isinstance(thing, Reply) else "messages"
        await self.client.aforce_login(self.user)
        path = f"{self.path}{kind}/{thing.pk}/speech/{number}/?wait={wait}"
        heard = await asyncio.gather(*(self.client.get(path) for _ in range(times)))
        await kept()
        return heard

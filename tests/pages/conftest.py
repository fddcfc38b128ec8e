from dataclasses import dataclass

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from companions.models import Companion, Message, Reply
from companions.replies.finish import Said, finish
from companions.replies.start import start
from memory.keeping import keep_fact
from memory.models import Memory


@dataclass(frozen=True)
class Told:
    """A companion with one turn and one fact."""

    companion: Companion
    message: Message
    answer: Message
    reply: Reply
    fact: Memory

    @property
    def path(self) -> str:
        return f"/companions/{self.companion.pk}/"


def answered(companion: Companion, text: str, answer: str, state: Reply.State = Reply.State.DONE) -> Reply:
    """A turn that is over, made without any model."""
    reply = start(companion, text, None, timezone.now()).reply
    Reply.objects.filter(pk=reply.pk).update(state=Reply.State.THINKING, lease_by="a test")
    code = "provider_unavailable" if state == Reply.State.FAILED else ""
    ended = finish(reply, state, Said(text=answer, code=code), timezone.now(), held_by="a test")
    assert ended
    return ended


@pytest.fixture
def told(mira: Companion) -> Told:
    reply = answered(mira, "I have an exam on Friday", "**Good luck** to you")
    fact = keep_fact(mira.pk, "The exam is statistics", timezone.now(), timezone.now())
    assert reply.answer
    return Told(mira, reply.message, reply.answer, reply, fact)


@pytest.fixture
def at_home(alice: User, client: Client) -> Client:
    """Alice, signed in."""
    client.force_login(alice)
    return client

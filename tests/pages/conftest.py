from dataclasses import dataclass

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from companions.models import Companion, Message, Reply
from companions.replies.checkpoint import Said
from companions.replies.finish import finish
from companions.replies.lifecycle import start
from memory.core_memory import set_slot, write_block
from memory.models import Block, Memory, Slot
from memory.models.core_memory import By
from memory.store import keep_fact
from tests.fixtures.people import sign_in


@dataclass(frozen=True)
class Told:
    """A companion with one turn, one fact, one slot and one block."""

    companion: Companion
    message: Message
    answer: Message
    reply: Reply
    fact: Memory
    slot: Slot
    block: Block

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
    return tell(mira)


def tell(mira: Companion) -> Told:
    reply = answered(mira, "I have an exam on Friday", "**Good luck** to you")
    fact = keep_fact(mira.pk, "The exam is statistics", timezone.now(), timezone.now())
    slot = set_slot(mira.pk, "exam", "statistics", by=By.USER, now=timezone.now())
    block = write_block(mira.pk, "plans", "Learn.", by=By.USER, now=timezone.now())
    assert reply.answer
    return Told(mira, reply.message, reply.answer, reply, fact, slot, block)


@pytest.fixture
def at_home(alice: User, client: Client) -> Client:
    """Alice, signed in."""
    sign_in(client, alice)
    return client

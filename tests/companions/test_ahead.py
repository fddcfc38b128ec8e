"""What is looked at while a message is being saved, and what is not; and turns that wait for it."""

import asyncio
import contextlib
from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest
from django.db import OperationalError, transaction
from django.utils import timezone

from accounts.errors import GateError
from accounts.models import ModelCall
from companions.locking import hold
from companions.models import Companion, Prompt, Reply
from companions.replies import ahead
from companions.replies.ahead import (
    LOOKING,
    NotYetError,
    begin_to_look,
    from_a_thread,
    looked_ahead,
    may_wait,
    start_and_look,
)
from companions.replies.making import Making
from database.threads import in_thread
from memory.embedding import embed_cue
from memory.models import Recall

pytestmark = pytest.mark.django_db(transaction=True)


async def _looked(companion: Companion, text: str) -> object:
    return await looked_ahead(begin_to_look(companion, text))


def test_what_cannot_be_saved_is_not_looked_for(mira: Companion) -> None:
    assert asyncio.run(_looked(mira, "ab " * 11_000)) is None


def test_nobody_outside_is_asked_before_the_gate(mira: Companion, settings: Any) -> None:
    wanted = {"base_url": "http://127.0.0.1:9/v1", "api_key": "", "model": "far-away"}
    settings.EMBEDDING = {**settings.EMBEDDING, **wanted}
    assert asyncio.run(_looked(mira, "tea")) is None


async def _refused(companion: Companion) -> list[bool]:
    """Whether those that looked, as a message was refused and as one was sent again, were called off."""
    now, called_off = timezone.now(), []
    await looked_ahead((await start_and_look(companion, "Hello", "one", lambda: now))[1])
    for text, client_id in (("tea " * 400, "two"), ("Hello", "one")):
        companion.user.messages_per_minute = 1
        await in_thread(companion.user.save)
        with contextlib.suppress(GateError):
            await start_and_look(companion, text, client_id, lambda: now)
        called_off += [looking.cancelling() > 0 for looking in LOOKING.values()]
        await asyncio.gather(*LOOKING.values(), return_exceptions=True)
    return called_off


def test_nobody_goes_on_looking_for_what_was_refused_or_sent_before(mira: Companion) -> None:
    assert all(asyncio.run(_refused(mira)))
    assert LOOKING == {}


async def _at_once(companion: Companion) -> tuple[object, object]:
    first, second = begin_to_look(companion, "tea"), begin_to_look(companion, "more tea")
    return await looked_ahead(first), second


def test_one_message_of_a_person_is_looked_for_at_a_time(mira: Companion) -> None:
    first, second = asyncio.run(_at_once(mira))
    assert first is not None
    assert second is None


class Embedder:
    """Stands before the embedder, and lets nobody through until it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.may_pass, self.fails = Event(), 0
        monkeypatch.setattr(ahead, "embed_cue", self)

    def __call__(self, *cue: Any) -> object:
        if not self.may_pass.wait(20):
            raise TimeoutError("Nobody told the embedder to go on.")
        if self.fails:
            self.fails -= 1
            raise OperationalError
        return embed_cue(*cue)


@pytest.fixture
def before(monkeypatch: pytest.MonkeyPatch) -> Iterator[Embedder]:
    embedder = Embedder(monkeypatch)
    yield embedder
    embedder.may_pass.set()


async def _begun(companion: Companion) -> Making:
    started, looking = await start_and_look(companion, "Hello", "one", timezone.now)
    assert started.turn
    assert looking
    return Making(started.turn, timezone.now, looking)


def _hold(companion: Companion) -> None:
    with transaction.atomic():
        hold(companion.pk)


async def test_a_turn_holds_its_companion_no_longer_than_a_moment(mira: Companion, before: Embedder) -> None:
    making = await _begun(mira)
    preparing = asyncio.create_task(making._prepared())
    await asyncio.sleep(ahead.WAIT_SECONDS / 2)
    await in_thread(_hold, mira)  # else nobody would have it before the embedder answers
    before.may_pass.set()
    call = await preparing
    assert await ModelCall.objects.filter(pk=call.pk, reply=making.turn.reply).aexists()
    assert await Recall.objects.filter(reply=making.turn.reply).acount() == 1
    assert may_wait()


async def test_where_too_many_wait_a_turn_looks_first(mira: Companion, before: Embedder) -> None:
    before.may_pass.set()
    making = await _begun(mira)
    with contextlib.ExitStack() as waiting:
        while may_wait():
            waiting.enter_context(ahead.WAITING)
        with pytest.raises(NotYetError):
            await in_thread(from_a_thread(None, making._looked))
        assert await making._prepared()
    assert may_wait()


async def test_what_could_not_be_looked_for_is_looked_for_anew(mira: Companion, before: Embedder) -> None:
    before.fails = 1
    making = await _begun(mira)
    before.may_pass.set()
    call = await making._prepared()
    assert await Prompt.objects.filter(reply=call.reply_id).acount() == 1


async def test_a_turn_that_waits_can_be_stopped(mira: Companion, before: Embedder) -> None:
    making = await _begun(mira)
    turning = asyncio.create_task(making.make())
    await asyncio.sleep(ahead.WAIT_SECONDS / 2)
    making.end(Reply.State.STOPPED)
    assert await turning == Reply.State.STOPPED
    assert not before.may_pass.is_set()
    await in_thread(_hold, mira)
    assert may_wait()

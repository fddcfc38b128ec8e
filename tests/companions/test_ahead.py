"""What is looked at while a message is being saved, and what is not."""

import asyncio
import contextlib
from typing import Any

import pytest
from django.utils import timezone

from accounts.errors import GateError
from companions.models import Companion
from companions.replies.ahead import LOOKING, begin_to_look, looked_ahead, start_and_look
from companions.replies.database import visit

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
    await looked_ahead((await start_and_look(companion, "Hello", "one", now))[1])
    for text, client_id in (("tea " * 400, "two"), ("Hello", "one")):
        companion.user.messages_per_minute = 1
        await visit(companion.user.save)
        with contextlib.suppress(GateError):
            await start_and_look(companion, text, client_id, now)
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

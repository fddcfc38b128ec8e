"""Calls beside the talk: none begins while somebody is answered, and few are made over a session."""

import asyncio
import contextlib
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings as kith
from redis.asyncio import Redis

from accounts.models import ModelCall, User
from companions.life import reflection
from companions.models import Closing, Companion
from companions.sessions import closing, digests
from companions.sessions.requests import close
from jobs.background import in_thread
from providers.availability import get_slot_keys
from providers.chat.completion import complete
from providers.errors import ProviderBusy
from providers.selection import get_provider
from tests.companions.talking import say
from tests.fixtures.clock import clock_at
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.turns import connected

ON_THE_LOOP = pytest.mark.django_db(transaction=True)
WORK = [{"role": "user", "content": "Sum up."}]


def _complete_once_free() -> None:
    """Ask again whenever the talk has held the slot for too long, as a task does."""
    while True:
        with contextlib.suppress(ProviderBusy):
            complete(get_provider(), WORK)
            return


@ON_THE_LOOP
@pytest.mark.usefixtures("web")
async def test_a_call_in_the_background_is_made_after_the_answer(
    alice: User, mira: Companion, rehearsal: RehearsalServer, settings: Any
) -> None:
    settings.LLM_SLOTS, settings.LLM_QUIET_SECONDS = 1, 0.5
    talks, calls = get_slot_keys(get_provider())
    async with Redis.from_url(kith.REDIS_URL) as redis:
        await redis.delete(talks, calls)
        rehearsal.script({"answer": "One two three four.", "delay": 1.5})
        async with connected(alice, mira) as socket:
            await socket.send("message.send", text="Hello", client_id="1")
            await socket.until("reply.started")
            assert await redis.zscore(talks, str(mira.pk))
            working = asyncio.create_task(in_thread(_complete_once_free))
            await socket.until("reply.done", seconds=20)
        await working
        assert await redis.zcard(calls) == 0
    asked = [request["messages"][-1]["content"] for request in rehearsal.requests()]
    assert len(asked) == 2
    assert asked[1] == "Sum up."


MOST_CALLS = 1.5  # a message of the person's, over a session with its end
AT = datetime(2023, 5, 2, 9, tzinfo=UTC)


@pytest.mark.django_db
@pytest.mark.parametrize("messages", [11, 40])
def test_a_session_costs_few_calls_a_message(
    mira: Companion, rehearsal: RehearsalServer, messages: int
) -> None:
    now = AT
    for number in range(messages):
        now = AT + timedelta(minutes=5 * number)
        say(mira, f"Today I planted tree {number} by the river.", "That is a fine tree.", at=now)
        for session_id in digests.find_due(now):
            digests.run(session_id, clock_at(now))
        for companion_id in reflection.find_due_companions(now):
            reflection.run(companion_id, clock_at(now))
    later = now + timedelta(hours=1)
    closing.run(Closing.objects.get(job=close(mira, later)).pk, clock_at(later))
    assert Closing.objects.get().state == Closing.State.DONE
    beside = Counter(ModelCall.objects.exclude(purpose="embedding").values_list("purpose", flat=True))
    calls = messages + beside.total()
    assert calls <= MOST_CALLS * messages, beside

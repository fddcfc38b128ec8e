"""Calls beside the talk: none begins while somebody is answered, and few are made over a session."""

import asyncio
from typing import Any

import pytest
from django.conf import settings as kith
from redis.asyncio import Redis

from accounts.models import User
from companions.models import Companion
from jobs.background import in_thread
from providers.chat.completion import complete
from providers.slots import CALLS, TALKS
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.turns import connected

ON_THE_LOOP = pytest.mark.django_db(transaction=True)
WORK = [{"role": "user", "content": "Sum up."}]


@ON_THE_LOOP
@pytest.mark.usefixtures("web")
async def test_a_call_in_the_background_is_made_after_the_answer(
    alice: User, mira: Companion, rehearsal: RehearsalServer, settings: Any
) -> None:
    settings.LLM_SLOTS, settings.LLM_QUIET_SECONDS = 1, 0.5
    async with Redis.from_url(kith.REDIS_URL) as redis:
        await redis.delete(TALKS, CALLS)
        rehearsal.script({"answer": "One two three four.", "delay": 1.5})
        async with connected(alice, mira) as socket:
            await socket.send("message.send", text="Hello", client_id="1")
            await socket.until("reply.started")
            assert await redis.zscore(TALKS, str(mira.pk))
            working = asyncio.create_task(in_thread(complete, WORK))
            await socket.until("reply.done", seconds=20)
        await working
        assert await redis.zcard(CALLS) == 0
    asked = [request["messages"][-1]["content"] for request in rehearsal.requests()]
    assert len(asked) == 2
    assert asked[1] == "Sum up."

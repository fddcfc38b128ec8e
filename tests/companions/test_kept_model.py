"""Many turns with providers that fail, vanish and come back: no model but the companion's own answers unannounced.

`make test` tries a seeded sample; `make prove-kept-model COUNT=1000` as many turns as it is told.
"""

import os
import sys
from functools import partial
from random import Random
from typing import Any

import pytest
import redis
from django.conf import settings
from django.test import AsyncClient

from accounts.models import User
from companions.minds.choice import take_model
from companions.models import Companion, Mind, Reply
from jobs.background import in_thread
from providers.models import Provider
from providers.selection import choose_chat, follow_change
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.turns import connected

TURNS = int(os.environ.get("PROOF_TURNS", "25"))
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("web"),
    pytest.mark.timeout(60 + 3 * TURNS),
]
ENDS = ("reply.done", "reply.failed", "reply.interrupted")
FAILURES: tuple[dict[str, Any], ...] = (
    {"error": {"status": 500}},
    {"error": {"status": 429}},
    {"error": {"status": 401}},
    {"error": {"status": 404, "body": {"error": {"message": "model not found"}}}},
    {"html": True},
    {"answer": "One two three four five.", "cut_after": 2},
    {"answer": ""},
)


def arrange(chance: Random) -> tuple[bool, bool]:
    """Switch providers and the person's leave as chance has it; return whether its own is there, and a stand-in may."""
    is_there, may_stand_in = chance.random() < 0.6, chance.random() < 0.5
    Provider.objects.filter(model="quiet").update(is_active=is_there)
    Provider.objects.filter(model="loud").update(order=chance.choice([-9, 9]))
    Mind.objects.update(allows_stand_in=may_stand_in)
    follow_change()
    return is_there, may_stand_in


def has_open_breaker(model: str) -> bool:
    """Whether a provider of that model has failed five times in a row, and has not answered since."""
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        return any(client.hget(key, "open_until") for key in client.scan_iter(f"kith:provider:*{model}"))


def load_reply(reply_id: str) -> Reply:
    return Reply.objects.select_related("answer").get(pk=reply_id)


async def test_no_other_model_answers_but_where_it_may_and_says_so(
    alice: User, mira: Companion, settings: Any
) -> None:
    settings.CHAT_IS_FOUND, settings.MESSAGES_PER_MINUTE = True, 100_000
    settings.TOKENS_PER_DAY = 10**9
    chance, outcomes = Random(18), dict.fromkeys(("own", "stand_in", "waits", "failed"), 0)
    with RehearsalServer() as quiet, RehearsalServer() as loud:
        await in_thread(partial(choose_chat, "Quiet", quiet.url, "quiet"))
        await in_thread(partial(choose_chat, "Loud", loud.url, "loud"))
        await in_thread(take_model, mira, "quiet")
        async with connected(alice, mira) as socket:
            for number in range(TURNS):
                is_there, may_stand_in = await in_thread(arrange, chance)
                for server in (quiet, loud):
                    server.reset()
                    if chance.random() < 0.4:
                        server.script(chance.choice(FAILURES))
                is_left_alone = has_open_breaker("quiet")
                await socket.send("message.send", text=f"Question {number}?", client_id=str(number))
                frame = (await socket.until(*ENDS, seconds=60))[-1]
                reply = await in_thread(load_reply, frame["id"])
                if is_there and may_stand_in and reply.is_stand_in:
                    # It was asked first, and failed; or it had failed so often in a row that it is left alone.
                    assert (reply.model, bool(quiet.requests() or is_left_alone)) == ("loud", True)
                elif is_there:
                    assert (reply.model, reply.is_stand_in, loud.requests()) == ("quiet", False, [])
                elif may_stand_in:
                    assert (reply.model, reply.is_stand_in, quiet.requests()) == ("loud", True, [])
                else:
                    assert (reply.code, quiet.requests(), loud.requests()) == ("model_missing", [], [])
                if reply.answer:
                    told = (frame["message"]["model"], frame["message"]["is_stand_in"])
                    assert told == (reply.model, reply.is_stand_in)
                    outcomes["stand_in" if reply.is_stand_in else "own"] += 1
                else:
                    outcomes["waits" if reply.code == "model_missing" else "failed"] += 1
        client = AsyncClient()
        await client.aforce_login(alice)
        page = (await client.get(f"/companions/{mira.pk}/")).content.decode()
    await in_thread(follow_change)
    sys.stdout.write(f"\n{TURNS} turns: {outcomes}\n")
    assert all(outcomes.values())
    assert "loud stood in while Mira's own model was away" in page

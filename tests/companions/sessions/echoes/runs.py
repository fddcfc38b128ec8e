"""The year as if lived: each turn by the code that answers in a web process, each job as beat would find it."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from accounts.models import User
from companions.creation import create
from companions.life import reflection
from companions.memories import consolidation
from companions.models import Companion
from companions.replies.lifecycle import start
from companions.replies.turn import claim_and_generate
from companions.sessions import closing, digests, requests
from memory.consolidation import runs
from memory.embedding import embed_waiting
from providers.http.clients import aclose_clients
from tests.companions.sessions.echoes.days import FIRST, Turn
from tests.fixtures.clock import clock_at
from tests.fixtures.rehearsal import RehearsalServer

ANSWERED = timedelta(seconds=20)
BEFORE_THREE, AFTER_THREE = timedelta(hours=26), timedelta(hours=28)  # after the midnight that began the day
ALWAYS = 1_000_000
PARROTED = ("", "digest", "diary", "facts", "understanding", "reflection")
NAME, COMPANION = "Nora", "Juno"
Tell = Callable[[int], None]


def someone() -> Companion:
    """A companion of a new person, on the eve of the year; nothing limits how much they may say."""
    user = User.objects.create_user("nora@example.org", name=NAME)
    User.objects.filter(pk=user.pk).update(messages_per_minute=ALWAYS, tokens_per_day=10**12)
    return create(user, name=COMPANION, persona="Juno listens.", greeting="", tint=40, now=FIRST)


@contextmanager
def parroting(model: RehearsalServer) -> Iterator[None]:
    """Inside the block the model repeats all that it is given to remember, and wants to learn from that."""
    model.script(*({"task": task, "parrots": True, "repeat": ALWAYS} for task in PARROTED))
    yield
    model.reset()


def live(companion: Companion, days: Iterable[list[Turn]], tell: Tell = lambda _: None) -> Companion:
    """Live through the days, and let each night do its work; `tell` hears how many days are over."""
    with asyncio.Runner() as loop:
        for number, turns in enumerate(days):
            for turn in turns:
                _say(companion, turn, loop)
            midnight = FIRST + timedelta(days=number)
            _sweep(companion, midnight + BEFORE_THREE)
            _sleep(companion, midnight + AFTER_THREE)
            tell(number + 1)
        loop.run(aclose_clients())
    return companion


def _say(companion: Companion, turn: Turn, loop: asyncio.Runner) -> None:
    """One turn, then what it makes due."""
    reply = start(companion, turn.text, None, turn.at).reply
    loop.run(claim_and_generate(reply.pk, lambda: turn.at + ANSWERED))
    embed_waiting(companion.pk)
    _learn(turn.at + 2 * ANSWERED)


def _learn(now: datetime) -> None:
    for session_id in digests.find_due(now):
        digests.run(session_id, clock_at(now))
    for companion_id in reflection.find_due_companions(now):
        reflection.run(companion_id, clock_at(now))


def _sweep(companion: Companion, now: datetime) -> None:
    _learn(now)
    requests.close_silent(now)
    for closing_id in closing.find_due(now):
        closing.run(closing_id, clock_at(now))
    embed_waiting(companion.pk)


def _sleep(companion: Companion, now: datetime) -> None:
    _sweep(companion, now)
    consolidation.request_due_nights(now)
    for companion_id, night_id in runs.find_due(now):
        runs.consolidate(companion_id, night_id, clock_at(now))
    embed_waiting(companion.pk)

"""A waking ends once, in speech or in silence, whatever is killed, however the model answers."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.models import ModelCall
from companions.life.waking import BUSY, LASTS, due, run
from companions.models import Companion, Message, Waking
from companions.sessions.trying import MOST_ATTEMPTS
from memory.models import DiaryEntry, Memory
from providers.rehearsal.running import RehearsalServer
from tests.companions.life.waking import as_it_is, calling, let_speak, ran, say, unprompted, woken

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("rehearsal")]
NOON = datetime(2026, 5, 5, 10, tzinfo=UTC)


def test_what_was_asked_for_comes_as_a_message_at_the_end_of_the_talk(mira: Companion) -> None:
    said = say(mira, "Hello", "Hello, Alice.", at=NOON - timedelta(hours=1))
    waking = ran(woken(mira, NOON), NOON)
    assert (waking.state, waking.outcome, waking.reason) == ("done", "spoke", "")
    message = Message.objects.get(waking=waking)
    assert message.text == "You asked me to remind you: drink water."
    assert (message.role, message.author, message.parent_id) == ("assistant", "Mira", said[-1].pk)
    mira.conversation.refresh_from_db()
    assert mira.conversation.head == message
    assert message.memory.kind == "said"
    assert (message.is_rehearsed, message.said_at) == (True, NOON)
    assert ModelCall.objects.filter(purpose="waking", companion=mira).count() == 1

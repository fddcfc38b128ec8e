"""What a companion repeats unprompted of its memories is no source of new ones."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest

from companions.models import Companion, Message
from companions.sessions.transcript import build_talk
from memory.learning.rules.evidence import is_echo
from memory.store import keep_fact
from tests.companions.life.waking import ran, say, woken

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("rehearsal")]
NOON = datetime(2026, 5, 5, 10, tzinfo=UTC)


def test_what_a_waking_was_shown_is_known_as_given(mira: Companion, tian: Companion) -> None:
    (said,) = say(mira, "My dog Rufus is a grey whippet.", at=NOON - timedelta(days=1))
    other = keep_fact(tian.pk, "Another's.", NOON, NOON)
    waking = ran(woken(mira, NOON), NOON)
    type(waking).objects.filter(pk=waking.pk).update(shown=[said.pk, other.pk, uuid4()])
    message = Message.objects.get(companion=mira, waking=waking)
    (line,) = build_talk(mira.pk, [message], ZoneInfo("UTC"), 1000).lines
    assert line.given == ("My dog Rufus is a grey whippet.",)
    assert is_echo(line, said.text, said.text, ["Mira"])

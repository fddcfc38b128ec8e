"""What is saved of the replies under way: of all that a process makes at once, and of no other process's."""

from datetime import timedelta

import pytest
from django.utils import timezone

from companions.making import create
from companions.models import Companion, Reply
from companions.replies.claim import claim
from companions.replies.finish import Said, checkpoint
from companions.replies.process import process_name
from companions.replies.start import start

pytestmark = pytest.mark.django_db
NOW = timezone.now()


def begun(companion: Companion) -> Reply:
    """A reply that this process makes."""
    turn = claim(start(companion, "Hello", None, NOW).reply.pk, NOW)
    assert turn is not None
    return turn.reply


def test_all_replies_are_saved_at_once_but_those_taken_over(mira: Companion) -> None:
    other = create(mira.user, name="Juno", persona="", greeting="", tint=40, now=NOW)
    third = create(mira.user, name="Ines", persona="", greeting="", tint=40, now=NOW)
    speaking, silent, lost = begun(mira), begun(other), begun(third)
    Reply.objects.filter(pk=lost.pk).update(lease_by="another process")
    said = Said(text="It's {so} 100 % \\ fine, 好", seq=3, tool_calls=[{"name": "recall", "result": "“x”"}])
    saying = {speaking.pk: said, silent.pk: Said(), lost.pk: Said(text="mine")}
    later = NOW + timedelta(seconds=5)
    assert checkpoint(saying, later, held_by=process_name()) == {speaking.pk, silent.pk}
    for reply in (speaking, silent, lost):
        reply.refresh_from_db()
    assert (speaking.text, speaking.seq, speaking.tool_calls) == (said.text, 3, said.tool_calls)
    assert (speaking.state, silent.state) == (Reply.State.STREAMING, Reply.State.THINKING)
    assert (speaking.lease_at, silent.lease_at, lost.lease_at) == (later, later, NOW)
    assert lost.text == ""


def test_a_reply_is_claimed_once_and_in_its_order(mira: Companion) -> None:
    first, second = (start(mira, text, None, NOW).reply for text in ("One", "Two"))
    assert claim(second.pk, NOW) is None
    assert claim(first.pk, NOW) is not None
    assert claim(first.pk, NOW) is None
    assert claim(second.pk, NOW) is None

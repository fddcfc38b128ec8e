"""What is saved of the replies under way: of all that a process makes at once, and of no other process's."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from companions.creation import create
from companions.models import Companion, Reply
from companions.replies.checkpoint import Said, save_progress
from companions.replies.finish import finish
from companions.replies.lifecycle import claim, find_startable, give_back, process_name, start

pytestmark = pytest.mark.django_db
NOW = timezone.now()


def begun(companion: Companion) -> Reply:
    """A reply that this process makes."""
    reply = claim(start(companion, "Hello", None, NOW).reply.pk, NOW)
    assert reply
    return reply


def test_all_replies_are_saved_at_once_but_those_taken_over(mira: Companion) -> None:
    other = create(mira.user, name="Juno", persona="", greeting="", tint=40, now=NOW)
    third = create(mira.user, name="Ines", persona="", greeting="", tint=40, now=NOW)
    speaking, silent, lost = begun(mira), begun(other), begun(third)
    Reply.objects.filter(pk=lost.pk).update(lease_by="another process")
    said = Said(text="It's {so} 100 % \\ fine, 好", seq=3, tool_calls=[{"name": "recall", "result": "“x”"}])
    saying = {speaking.pk: said, silent.pk: Said(), lost.pk: Said(text="mine")}
    later = NOW + timedelta(seconds=5)
    assert save_progress(saying, later) == {speaking.pk, silent.pk}
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


def test_a_reply_has_its_turn_at_once_where_none_is_open(mira: Companion) -> None:
    first, second = (start(mira, text, None, NOW, at_once=True) for text in ("One", "Two"))
    assert (first.has_turn, first.message.text, first.reply.state) == (True, "One", Reply.State.THINKING)
    assert (second.has_turn, second.reply.state) == (False, Reply.State.QUEUED)
    assert finish(first.reply, Reply.State.DONE, Said("Well."), NOW, held_by=process_name())
    assert not start(mira, "Three", None, NOW, at_once=True).has_turn  # the second has its turn before it


def test_a_message_sent_again_takes_no_second_turn(mira: Companion) -> None:
    first, again = (start(mira, "One", "id", NOW, at_once=True) for _ in range(2))
    assert first.reply == again.reply
    assert not again.has_turn


def test_a_reply_that_nobody_took_up_waits_again(mira: Companion, settings: Any) -> None:
    reply = start(mira, "One", None, NOW, at_once=True).reply
    soon, late = (NOW + timedelta(seconds=settings.LEASE_RENEWED_SECONDS + n) for n in (-1, 1))
    assert find_startable(soon, ()) == []
    assert find_startable(late, ()) == [reply.pk]
    assert claim(reply.pk, late)


def test_a_reply_that_is_made_or_was_taken_over_does_not_wait_again(mira: Companion) -> None:
    reply, late = start(mira, "One", None, NOW, at_once=True).reply, NOW + timedelta(minutes=1)
    save_progress({reply.pk: Said()}, NOW + timedelta(seconds=1))
    assert find_startable(late, ()) == []
    Reply.objects.filter(pk=reply.pk).update(lease_at=NOW, lease_by="another process")
    assert find_startable(late, ()) == []


def test_a_turn_that_is_given_back_is_anybodys(mira: Companion) -> None:
    started = start(mira, "One", None, NOW, at_once=True)
    assert started.has_turn
    give_back(started.reply)
    reply = Reply.objects.get()
    assert (reply.state, reply.lease_at, reply.started_at) == (Reply.State.QUEUED, None, None)
    assert claim(reply.pk, NOW)

"""What a deleted message had replaced or denied holds again, as if that had never been said."""

from datetime import datetime, timedelta

import pytest

from companions.branches.operations import choose, fork
from companions.conversations.editing import correct_message
from companions.deletion import delete_message, forget
from companions.models import Branch, Companion, Message
from memory.consolidation.undo import settle
from memory.learning.revisions import load_current, load_holding
from memory.models import Change, Consolidation, Memory, Retraction, Thread
from memory.store import note_retraction, retract
from tests.companions.deletion.conftest import NOW, learnt, profile, told
from tests.companions.talking import say

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]
YEAR = timedelta(days=365)
LATER = NOW + 5 * YEAR
BERLIN, HAMBURG, KIEL = (f"Alice lives in {place}." for place in ("Berlin", "Hamburg", "Kiel"))


def keep(companion: Companion, fact: str, at: datetime, before: Memory | None = None) -> Memory:
    """The fact, learnt from a message that says it; it replaces the one before."""
    text = fact.replace("Alice lives", "I live")
    said, _answer = say(companion, text, "I see.", at=at)
    memory = learnt(companion, fact, [(said, text)])
    if before:
        retract(before, at, replaced_by=memory)
    return memory


def read(memory: Memory) -> tuple[bool, Memory | None]:
    """Whether the memory holds, and what has replaced it."""
    memory.refresh_from_db()
    return memory.closed_at is None, memory.replaced_by


def read_profile(companion: Companion) -> list[str]:
    revision = load_current(companion.pk, "user_profile")
    assert revision
    return [sentence["text"] for sentence in load_holding(revision)]


@pytest.mark.parametrize("is_corrected", [True, False])
def test_what_a_message_alone_had_replaced_holds_again(mira: Companion, is_corrected: bool) -> None:
    first = keep(mira, BERLIN, NOW)
    profile(mira, told(BERLIN, first.sources.get()))
    second = keep(mira, HAMBURG, NOW + YEAR, first)
    note_retraction(first, None, NOW + YEAR)
    assert read_profile(mira) == [HAMBURG]
    if is_corrected:
        correct_message(second.sources.get(), "I work in Potsdam.", LATER)
    else:
        delete_message(second.sources.get(), LATER)
    assert read(first) == (True, None)
    assert read_profile(mira) == [BERLIN]
    assert not Retraction.objects.exists()


def test_what_a_forgotten_memory_had_replaced_stays_closed(mira: Companion) -> None:
    """The message was said, and may be true."""
    first = keep(mira, BERLIN, NOW)
    forget(keep(mira, HAMBURG, NOW + YEAR, first), LATER)
    assert read(first) == (False, None)


def test_what_the_person_settled_as_untrue_stays_closed(mira: Companion) -> None:
    first, second = keep(mira, BERLIN, NOW), keep(mira, HAMBURG, NOW + YEAR)
    at = {"asked_at": LATER, "next_at": LATER}
    night = Consolidation.objects.create(companion=mira, night_of=LATER.date(), **at)
    change = night.changes.create(companion=mira, number=1, kind=Change.Kind.CONTRADICTION, memory=second)
    change.others.add(first)
    settle(mira.pk, change.pk, Change.Settled.A, LATER)
    delete_message(second.sources.get(), LATER)
    assert read(first) == (False, None)


def test_what_a_message_asked_to_forget_stays_closed(mira: Companion) -> None:
    memory = keep(mira, BERLIN, NOW)
    said, _answer = say(mira, "Please don't remember that I live in Berlin.", "I see.", at=NOW + YEAR)
    retract(memory, said.said_at)
    delete_message(said, LATER)
    assert read(memory) == (False, None)


def test_what_was_replaced_twice_is_replaced_by_the_last(mira: Companion) -> None:
    first = keep(mira, BERLIN, NOW)
    profile(mira, told(BERLIN, first.sources.get()))
    second = keep(mira, HAMBURG, NOW + YEAR, first)
    third = keep(mira, KIEL, NOW + 2 * YEAR, second)
    delete_message(second.sources.get(), LATER)
    assert read(first) == (False, third)
    assert read_profile(mira) == [KIEL]


@pytest.mark.parametrize(
    ("text", "holds"),
    [(None, True), ("I do not live in Hamburg.", True), ("I no longer live in Berlin!", False)],
)
def test_what_a_message_alone_had_denied_holds_again(mira: Companion, text: str | None, holds: bool) -> None:
    memory, other = keep(mira, BERLIN, NOW), keep(mira, "Alice lives with Ana.", NOW)
    said, _answer = say(mira, "I no longer live in Berlin.", "I see.", at=NOW + YEAR)
    retract(memory, said.said_at)
    retract(other, said.said_at + timedelta(seconds=1))
    if text:
        correct_message(said, text, LATER)
    else:
        delete_message(said, LATER)
    assert (read(memory), read(other)) == ((holds, None), (False, None))


def test_a_branch_on_which_a_deleted_message_had_replaced_and_settled_can_be_chosen(mira: Companion) -> None:
    memory = keep(mira, BERLIN, NOW)
    thread = Thread.objects.create(companion=mira, memory=memory, opened_at=NOW)
    [start] = say(mira, "Tea?", at=NOW + YEAR)
    keep(mira, HAMBURG, NOW + YEAR, memory)
    said = Message.objects.get(text="I live in Hamburg.")
    thread.state, thread.closed_at, thread.settled_by = Thread.State.SETTLED, NOW + YEAR, said
    thread.save()
    say(mira, "With milk.", at=NOW + 2 * YEAR)
    fork(mira, start.pk, LATER)
    say(mira, "Coffee?", at=LATER)
    delete_message(Message.everywhere.get(pk=said.pk), LATER)
    choose(Branch.objects.get(companion=mira, left_at__isnull=False), LATER)
    assert read(memory) == (False, None)
    thread.refresh_from_db()
    assert (thread.state, thread.settled_by) == (Thread.State.SETTLED, None)

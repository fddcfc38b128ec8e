"""After what a change counts as made: where a branch ends, in an answer or a waking, after a deletion."""

from datetime import UTC, datetime, timedelta

import pytest

from companions.branches.operations import choose, delete, fork, say_anew
from companions.deletion import delete_message
from companions.models import Branch, Companion, Conversation, JournalEntry, Message, Reply, Waking
from companions.replies import actions
from companions.replies.checkpoint import Said
from companions.replies.finish import finish
from companions.replies.lifecycle import claim, process_name, start
from database.journal import everywhere
from memory.core_memory import delete_slot, set_slot
from memory.models import Memory, Slot
from memory.models.core_memory import By
from memory.store import keep_fact
from tests.companions.talking import say

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


def note(companion: Companion, text: str) -> None:
    set_slot(companion.pk, "tea", text, by=By.COMPANION, now=NOW)


def noted(companion: Companion) -> str:
    return Slot.objects.filter(companion=companion, name="tea").values_list("text", flat=True).first() or ""


def check(companion: Companion, *known: tuple[Branch, str]) -> None:
    """Each branch, chosen in turn, knows its own."""
    for branch, text in known:
        choose(branch, NOW)
        assert noted(companion) == text


def end(reply: Reply, text: str, state: Reply.State = Reply.State.DONE) -> Reply:
    assert claim(reply.pk, LATER)
    ended = finish(reply, state, Said(text=text, code="" if text else "x"), LATER, held_by=process_name())
    assert ended
    return ended


def chosen(companion: Companion) -> Branch:
    branch = Conversation.objects.get(companion=companion).branch
    assert branch
    return branch


def part(companion: Companion, message: Message) -> tuple[Branch, Branch]:
    """Part from it; return the branch that is left, and the one that is chosen now."""
    had = set(Branch.objects.values_list("pk", flat=True))
    was = Conversation.objects.get(companion=companion).branch
    fork(companion, message.pk, NOW)
    here = chosen(companion)
    return was or Branch.objects.exclude(pk__in=had).exclude(pk=here.pk).get(), here


def test_what_is_noted_before_anything_is_said_on_a_branch_is_its_own(mira: Companion) -> None:
    first, _second, _third = say(mira, "Tea?", "Tea.", "Which?", at=NOW)
    note(mira, "green")
    there, here = part(mira, first)
    assert noted(mira) == ""
    note(mira, "black")
    keep_fact(mira.pk, "Ana likes tea.", NOW, NOW)
    choose(there, NOW)
    assert noted(mira) == "green"
    assert not Memory.objects.filter(companion=mira, text="Ana likes tea.").exists()
    choose(here, NOW)
    assert noted(mira) == "black"

    [said] = say(mira, "Black it is.", at=LATER)
    part(mira, first)
    assert noted(mira) == ""
    choose(here, NOW)
    assert noted(mira) == "black"
    assert said.pk in marks(mira)


def test_a_branch_that_is_deleted_takes_what_was_noted_at_its_end(mira: Companion) -> None:
    first, _second = say(mira, "Tea?", "Tea.", at=NOW)
    there, here = part(mira, first)
    note(mira, "black")
    keep_fact(mira.pk, "Ana likes tea.", NOW, NOW)
    choose(there, NOW)
    delete(here, NOW)
    assert not JournalEntry.objects.filter(companion=mira, table__startswith="memory_slot").exists()
    assert not Memory.everywhere.filter(companion=mira, text="Ana likes tea.").exists()


def test_what_was_noted_on_a_deleted_branch_does_not_come_back(mira: Companion) -> None:
    first, second = say(mira, "Tea?", "Tea.", at=NOW)
    there, here = part(mira, first)
    say(mira, "Or coffee.", at=LATER)
    note(mira, "none")
    choose(there, NOW)
    delete(here, NOW)
    again, _here = part(mira, first)
    choose(again, NOW)
    assert noted(mira) == ""
    assert second.pk == Conversation.objects.get(companion=mira).head_id


def test_a_deleted_message_leaves_what_was_noted_after_it_to_its_branch(mira: Companion) -> None:
    """Where others follow the message before it, which know nothing of it."""
    first, _second = say(mira, "Hello.", "Hello!", at=NOW)
    note(mira, "green")
    there, here = part(mira, first)
    [said] = say(mira, "Good day.", at=LATER)
    note(mira, "black")
    delete_message(said, NOW)
    assert noted(mira) == "black"
    check(mira, (there, "green"), (here, "black"))


def test_what_was_noted_after_a_deleted_message_is_made_after_what_follows_it(mira: Companion) -> None:
    first, _second = say(mira, "Hello.", "Hello!", at=NOW)
    note(mira, "green")
    there, here = part(mira, first)
    [said] = say(mira, "Good day.", at=LATER)
    note(mira, "black")
    say(mira, "Nice.", at=NOW + timedelta(hours=2))
    delete_message(said, NOW)
    check(mira, (there, "green"), (here, "black"))


def test_a_message_deleted_at_the_end_of_a_branch_that_is_not_chosen(mira: Companion) -> None:
    first, second = say(mira, "Hello.", "Hello!", at=NOW)
    note(mira, "green")
    there, here = part(mira, first)
    note(mira, "black")
    delete_message(second, NOW)
    assert noted(mira) == "black"
    check(mira, (there, "green"), (here, "black"))


def test_a_deleted_message_leaves_nothing_to_a_branch_that_ends_before_it(mira: Companion) -> None:
    first, second = say(mira, "Hello.", "Hello!", at=NOW)
    note(mira, "green")
    there, here = part(mira, first)
    note(mira, "black")
    choose(there, NOW)
    delete_message(second, NOW)
    assert noted(mira) == "green"
    check(mira, (here, "black"), (there, "green"))


def test_a_note_whose_words_were_deleted_from_the_journal_stays_away(mira: Companion) -> None:
    first, _second = say(mira, "Hello.", "Hello!", at=NOW)
    note(mira, "green")
    [third] = say(mira, "No green any more.", at=LATER)
    delete_slot(mira.pk, "tea", by=By.COMPANION)
    delete_message(third, NOW)
    there, _here = part(mira, first)
    check(mira, (there, ""))


def test_what_a_person_writes_holds_on_every_branch(mira: Companion) -> None:
    """Also where one of this name, with its sources, sleeps on another branch; and so does that it is deleted."""
    first, second = say(mira, "Hello.", "Hello!", at=NOW)
    set_slot(mira.pk, "tea", "green", by=By.COMPANION, now=NOW, source_ids=[second.pk])
    assert Slot.objects.get(companion=mira).sources.exists()
    there, here = part(mira, first)
    with everywhere():
        set_slot(mira.pk, "tea", "white", by=By.USER, now=NOW)
    check(mira, (there, "white"), (here, "white"), (there, "white"))
    with everywhere():
        delete_slot(mira.pk, "tea", by=By.COMPANION)
    check(mira, (here, ""), (there, ""))


def test_what_is_noted_while_an_answer_is_under_way_is_made_after_it(mira: Companion) -> None:
    started = start(mira, "Tea?", None, NOW, at_once=True)
    note(mira, "green")
    start(mira, "Or not?", None, NOW + timedelta(seconds=1))
    ended = finish(started.reply, Reply.State.DONE, Said(text="Green."), NOW, held_by=process_name())
    assert ended
    assert ended.answer
    assert set(marks(mira)) == {ended.answer.pk}


def test_what_is_noted_in_a_waking_is_made_after_what_somebody_says_meanwhile(
    mira: Companion,
) -> None:
    say(mira, "Hello.", "Hello!", at=NOW)
    waking = Waking.objects.create(
        companion=mira, origin=Waking.Origin.TIMER, due_at=NOW, look_at=NOW, created_at=NOW, started_at=NOW
    )
    note(mira, "green")
    assert set(marks(mira)) == {waking.pk}
    started = start(mira, "Tea?", None, NOW)
    assert marks(mira) == [started.message.pk]
    note(mira, "black")
    assert claim(started.reply.pk, NOW)
    finish(started.reply, Reply.State.FAILED, Said(code="x"), NOW, held_by=process_name())
    # the waking is still under way
    assert marks(mira) == [started.message.pk, waking.pk]
    waking.state = Waking.State.SKIPPED
    waking.save()
    assert marks(mira) == [started.message.pk, started.message.pk]


def test_a_waking_that_begins_anew_on_another_branch_leaves_there_what_it_did(mira: Companion) -> None:
    first, _second = say(mira, "Hello.", "Hello!", at=NOW)
    Waking.objects.create(
        companion=mira, origin=Waking.Origin.TIMER, due_at=NOW, look_at=NOW, created_at=NOW, started_at=NOW
    )
    note(mira, "green")
    there, _here = part(mira, first)
    assert noted(mira) == ""
    choose(there, NOW)
    assert noted(mira) == "green"


def test_two_branches_that_end_with_one_message_know_nothing_of_each_other(mira: Companion) -> None:
    """Also where nothing follows that message any more."""
    _zero, zeroth, first, _second = say(mira, "Hi.", "Hi!", "Hello.", "Hello!", at=NOW)
    there, one = part(mira, first)
    note(mira, "black")
    _one, two = part(mira, first)
    note(mira, "white")
    part(mira, zeroth)
    say(mira, "Elsewhere.", at=LATER)
    delete(there, NOW)
    _away, three = part(mira, first)
    note(mira, "red")
    check(mira, (one, "black"), (two, "white"), (three, "red"), (one, "black"))


def test_what_an_answer_that_goes_on_notes_is_its_branchs_own(mira: Companion) -> None:
    started = start(mira, "Tea?", None, NOW)
    first = end(started.reply, "I would", Reply.State.STOPPED)
    assert first.answer
    say(mira, "Well?", "Yes.", at=LATER)
    note(mira, "green")
    there, here = part(mira, first.answer)
    going = actions.go_on(Reply.objects.get(pk=started.reply.pk), LATER)
    note(mira, "black")
    end(going, "I would like that")
    check(mira, (there, "green"), (here, "black"))


def test_what_is_noted_before_an_answer_stays_before_what_is_said_meanwhile(mira: Companion) -> None:
    started = start(mira, "Tea?", None, NOW)
    end(started.reply, "", Reply.State.FAILED)
    say(mira, "Are you there?", at=LATER)
    part(mira, started.message)
    note(mira, "black")
    again = actions.retry(Reply.objects.get(pk=started.reply.pk), LATER)
    meanwhile = start(mira, "And cake.", None, LATER + timedelta(minutes=1))
    note(mira, "green")
    ended = end(again, "Yes, tea.")
    end(meanwhile.reply, "Cake.")
    assert ended.answer
    part(mira, ended.answer)
    assert noted(mira) == "green"


def test_what_a_late_answer_notes_is_made_where_the_talk_is(mira: Companion) -> None:
    """Its message was never answered, and much was said since: the answer stands before that."""
    started = start(mira, "Tea?", None, NOW)
    end(started.reply, "", Reply.State.FAILED)
    [_there, last] = say(mira, "Are you there?", "Yes.", at=NOW + timedelta(minutes=1))
    note(mira, "green")
    again = actions.retry(Reply.objects.get(pk=started.reply.pk), LATER)
    note(mira, "black")
    ended = end(again, "Yes, tea.")
    assert ended.answer
    assert marks(mira) == [last.pk, last.pk]
    there, here = part(mira, ended.answer)
    assert noted(mira) == ""
    check(mira, (there, "black"), (here, ""))


def test_what_was_noted_after_a_first_message_stays_with_what_followed_it(mira: Companion) -> None:
    """Where that message is deleted while nothing is said on the chosen branch."""
    started = start(mira, "Cocoa?", None, NOW)
    end(started.reply, "", Reply.State.FAILED)
    note(mira, "green")
    _hello, last = say(mira, "Hello?", "Yes.", at=LATER)
    anew = say_anew(started.message)(mira, "Coffee?", None, LATER, at_once=False)
    there = Branch.objects.get(companion=mira, head=last)
    end(anew.reply, "", Reply.State.FAILED)
    delete_message(anew.message, NOW)
    assert Conversation.objects.get(companion=mira).head_id is None
    delete_message(started.message, NOW)
    choose(there, NOW)
    assert noted(mira) == "green"


def marks(companion: Companion) -> list[object]:
    slots = JournalEntry.objects.filter(companion=companion, table="memory_slot")
    return list(slots.order_by("pk").values_list("at", flat=True))

"""What was drawn from a message goes with it, and what other messages told stays."""

from collections.abc import Callable

import pytest

from companions.deletion import delete_message, forget
from companions.models import Closing, Companion, Message, Session
from memory.core_memory import set_slot, write_block
from memory.models import Block, DiaryEntry, Embedding, Memory, Revision, Slot
from memory.models.core_memory import By
from tests.companions.deletion.conftest import (
    MARKER,
    NOW,
    RAIN,
    SECRET,
    TEA,
    diary,
    insight,
    learnt,
    profile,
    say,
    told,
)
from tests.companions.everywhere import tables_with
from tests.fixtures.embedding import embed_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]
WRITTEN = {
    *("companions_message", "companions_session", "companions_closing", "memory_memory", "memory_slot"),
    *("memory_block", "memory_consolidation", "memory_diaryentry", "memory_revision"),
    "companions_journalentry",
}


def test_a_deleted_message_is_in_nothing_that_was_made_of_it(
    mira: Companion, spread: Callable[[], Message]
) -> None:
    message = spread()
    embed_all()
    assert tables_with(MARKER).keys() == WRITTEN
    delete_message(message, NOW)
    assert tables_with(MARKER) == {}
    entry = DiaryEntry.objects.select_related("memory").get(companion=mira)
    assert (entry.summary, entry.is_stale) == ("We spoke of tea.", True)
    assert entry.memory.text == "We spoke of tea."
    assert not Embedding.objects.filter(memory=entry.memory).exists()
    for about in Revision.About.values:
        every = Revision.objects.of(mira.pk, about)
        assert [one.text for one in every] == ["Alice likes tea.", "Alice likes tea.", ""]
        assert every[0].by == "deletion"


def test_a_forgotten_memory_of_what_was_said_stands_in_the_hidden_message_alone(
    mira: Companion, spread: Callable[[], Message]
) -> None:
    message = spread()
    forget(Memory.objects.get(message=message), NOW)
    assert tables_with(MARKER) == {"companions_message": 1}
    assert Message.objects.get(pk=message.pk).is_hidden


def test_what_was_told_twice_stays_with_what_is_left_of_its_evidence(
    mira: Companion, said: list[Message]
) -> None:
    quotes = [(said[2], "I like green tea"), (said[4], "mornings with tea are the best")]
    memory = learnt(mira, "Alice likes tea.", quotes)
    delete_message(said[4], NOW)
    memory.refresh_from_db()
    assert (memory.text, memory.evidence) == ("Alice likes tea.", 1)
    assert memory.quotes == [{"message": str(said[2].pk), "text": "I like green tea"}]
    assert list(memory.sources.all()) == [said[2]]


def test_what_tells_of_the_deleted_goes_and_what_else_was_said_stays_known(
    mira: Companion, said: list[Message]
) -> None:
    quotes = [(said[0], SECRET), (said[2], TEA)]
    memory = learnt(mira, f"Alice likes tea and {MARKER}.", quotes, kind="preference", importance=9)
    old = learnt(mira, "Alice likes milk.", [(said[4], RAIN)], closed_at=NOW, replaced_by=memory)
    delete_message(said[0], NOW)
    assert not Memory.objects.filter(kind="preference").exists()
    assert Memory.objects.filter(message=said[2], text=TEA).exists()
    old.refresh_from_db()
    assert (old.closed_at, old.replaced_by) == (None, None)


def test_an_insight_stays_that_other_memories_bear_and_goes_where_it_tells_of_one_that_goes(
    mira: Companion, said: list[Message]
) -> None:
    tea, rain = (learnt(mira, text, [(message, text)]) for text, message in ((TEA, said[2]), (RAIN, said[4])))
    locker = learnt(mira, SECRET, [(said[0], SECRET)])
    stays = insight(mira, "Alice likes calm mornings with tea.", tea, rain, locker)
    goes = insight(mira, "Alice opens her locker after tea.", tea, locker)
    delete_message(said[0], NOW)
    assert Memory.objects.filter(pk=stays.pk).exists()
    assert set(stays.drawn_from.all()) == {tea, rain}
    assert not Memory.objects.filter(pk=goes.pk).exists()


def test_a_block_keeps_the_lines_of_other_messages_and_those_that_its_person_wrote(
    mira: Companion, tian: Companion, said: list[Message]
) -> None:
    lines = f"Opens with {MARKER}\nLikes green tea\nSomething unheard of"
    for name, by in (("hers", By.COMPANION), ("mine", By.USER)):
        write_block(mira.pk, name, lines, by=by, now=NOW).sources.set([said[0], said[2]])
    write_block(tian.pk, "his", lines, by=By.USER, now=NOW)
    delete_message(said[0], NOW)
    assert Block.objects.get(name="hers").text == "Likes green tea"
    assert Block.objects.get(name="mine").text == "Likes green tea\nSomething unheard of"
    assert Block.objects.get(name="his").text == lines


def test_a_slot_of_another_message_stays(mira: Companion, said: list[Message]) -> None:
    set_slot(mira.pk, "tea", "green", by=By.COMPANION, now=NOW, source_ids=[said[2].pk])
    delete_message(said[0], NOW)
    assert Slot.objects.get().name == "tea"


def test_the_summary_of_an_open_session_goes_and_nothing_is_learnt_from_twice_for_that(
    mira: Companion, said: list[Message]
) -> None:
    """Who deletes or hides one message would else have a whole session put before the model again."""
    Message.objects.filter(companion=mira).update(is_learnt=True)
    Session.objects.filter(companion=mira).update(
        summary=f"{MARKER}, tea.", summarised_until=NOW, scratch="x"
    )
    delete_message(said[0], NOW)
    session = Session.objects.get(companion=mira)
    assert (session.summary, session.summarised_until, session.scratch) == ("", None, "")
    assert not Message.objects.filter(companion=mira, is_learnt=False).exists()


def test_what_another_session_holds_is_left_alone(mira: Companion, said: list[Message]) -> None:
    entry = diary(mira, said[0].session, told("We spoke of tea.", said[2]))
    later = say(mira, f"Once more: {MARKER}.", "Yes.")
    delete_message(later[0], NOW)
    entry.refresh_from_db()
    assert (entry.summary, entry.is_stale) == ("We spoke of tea.", False)
    assert Session.objects.get(pk=entry.session_id).title == "Tea and rain"


def test_an_entry_goes_with_the_last_that_its_user_said(mira: Companion) -> None:
    (secret, *_rest) = say(mira, SECRET, "I see.")
    entry = diary(mira, secret.session, told(f"Alice named {MARKER}.", secret))
    delete_message(secret, NOW)
    assert not DiaryEntry.objects.exists()
    assert not Memory.objects.filter(pk=entry.memory_id).exists()


def test_a_forgotten_fact_takes_along_what_says_the_same_of_the_same_messages(
    mira: Companion, said: list[Message]
) -> None:
    fact = learnt(mira, "Alice likes green tea.", [(said[2], TEA)])
    entry = diary(mira, said[0].session, told("We spoke of tea.", said[2]), told("It rained.", said[4]))
    profile(mira, told("Alice drinks tea.", said[2]), told("Alice dislikes noise.", said[2]))
    forget(fact, NOW)
    assert Revision.objects.of(mira.pk, "user_profile")[0].text == "Alice dislikes noise."
    entry.refresh_from_db()
    assert (entry.summary, entry.is_stale) == ("It rained.", True)
    assert Message.objects.get(pk=said[2].pk).is_hidden


def test_a_forgotten_fact_takes_along_what_alone_tells_it_again(mira: Companion, said: list[Message]) -> None:
    fact = learnt(mira, f"Alice opens her locker with {MARKER}.", [(said[0], MARKER)])
    learnt(mira, f"{MARKER} is what Alice opens with.", [(said[0], MARKER)])
    insight(mira, f"Alice trusts in {MARKER}.", fact)
    both = [(said[0], f"opens with {MARKER}"), (said[2], "I like green tea")]
    learnt(mira, f"Alice drinks tea and thinks of {MARKER}.", both)
    forget(fact, NOW)
    assert left(mira) == set()
    assert tables_with(MARKER).keys() == {"companions_message", "memory_memory"}  # what was said, for the eye
    assert Memory.objects.get(text__contains=MARKER).message_id == said[0].pk


def test_a_forgotten_fact_leaves_what_else_was_learnt_of_its_message(
    mira: Companion, said: list[Message]
) -> None:
    fact = learnt(mira, "Alice likes green tea.", [(said[2], TEA)])
    coffee = learnt(mira, "Alice has coffee at times.", [(said[2], TEA)])
    known = learnt(mira, "Alice likes mornings.", [(said[2], TEA), (said[4], RAIN)])
    say(mira, "Green is a colour that I like.", "So it is.")
    forget(fact, NOW)
    assert left(mira) == {coffee.text, known.text}


def left(companion: Companion) -> set[str]:
    """What the companion knows besides what was said."""
    mine = Memory.objects.of(companion.pk).exclude(kind="said")
    return set(mine.values_list("text", flat=True))


def test_a_forgotten_diary_memory_takes_the_entry_along_and_hides_nothing(
    mira: Companion, said: list[Message]
) -> None:
    entry = diary(mira, said[0].session, told("We spoke of tea.", said[2]))
    assert entry.memory
    forget(entry.memory, NOW)
    assert not DiaryEntry.objects.exists()
    assert not Message.objects.filter(is_hidden=True).exists()


def test_a_draft_of_a_closing_under_way_is_made_again(mira: Companion, said: list[Message]) -> None:
    closing = Closing.objects.create(
        companion=mira,
        session=said[0].session,
        until_at=NOW,
        asked_at=NOW,
        next_at=NOW,
        drafts={"title": MARKER},
    )
    delete_message(said[0], NOW)
    closing.refresh_from_db()
    assert (closing.drafts, closing.state) == ({}, "waiting")

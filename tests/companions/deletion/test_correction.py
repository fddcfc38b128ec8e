"""What is drawn from a person's words goes with the words that are corrected, and the message stays."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from accounts.models import ModelCall
from companions.branches.operations import choose, fork
from companions.conversations.editing import correct_memory, correct_message
from companions.errors import ReplyStateError, TextError
from companions.models import Branch, Companion, Message, Prompt, Reply, Session
from memory.core_memory import append_to_block, set_slot, write_block
from memory.learning.revisions import load_current, load_holding
from memory.models import Block, DiaryEntry, Embedding, Memory, Revision, Slot
from memory.models.core_memory import By
from memory.store import keep_fact, retract
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
    told,
)
from tests.companions.everywhere import tables_with
from tests.companions.talking import say
from tests.fixtures.embedding import embed_all
from tests.fixtures.rest import Api
from text.strings import quoted

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]
HOUR = timedelta(hours=1)
MEANT = "My locker opens with a key."


def test_a_word_that_is_corrected_is_in_nothing_that_was_made_of_it(
    mira: Companion, spread: Callable[[], Message]
) -> None:
    message = spread()
    embed_all()
    correct_message(message, MEANT, NOW)
    assert tables_with(MARKER) == {}
    entry = DiaryEntry.objects.get(companion=mira)
    assert (entry.summary, entry.is_stale) == ("We spoke of tea.", True)
    assert Message.objects.get(pk=message.pk).text == MEANT
    memory = Memory.objects.get(message=message)
    assert (memory.text, memory.edited_at) == (MEANT, NOW)
    assert not Embedding.objects.filter(memory=memory).exists()


def test_what_still_holds_stays_with_its_source(mira: Companion, said: list[Message]) -> None:
    memory = learnt(mira, "Alice has a locker.", [(said[0], "My locker")])
    memory.quotes.append({"message": str(said[0].pk), "text": MARKER})
    memory.save(update_fields=["quotes"])
    sentence = told("She has a locker.", said[0])
    revision = profile(mira, sentence)
    correct_message(said[0], MEANT, NOW)
    memory.refresh_from_db()
    revision.refresh_from_db()
    assert memory.quotes == [{"message": str(said[0].pk), "text": "My locker"}]
    assert list(memory.sources.all()) == [said[0]]
    assert (revision.sentences, revision.is_stale) == ([sentence], False)


def test_the_only_thing_said_in_a_session_keeps_its_diary(mira: Companion, said: list[Message]) -> None:
    session = said[0].session
    Message.objects.filter(companion=mira).exclude(pk=said[0].pk).delete()
    entry = diary(mira, session, told(f"Alice named {MARKER}.", said[0]), title="A locker")
    correct_message(said[0], MEANT, NOW)
    entry.refresh_from_db()
    assert (entry.summary, entry.is_stale) == ("", True)


def test_the_corrected_words_are_learnt_from_while_the_session_lasts(
    mira: Companion, said: list[Message]
) -> None:
    Message.objects.filter(companion=mira).update(is_learnt=True)
    correct_message(said[0], MEANT, NOW)
    assert list(Message.objects.filter(is_learnt=False)) == [said[0]]
    diary(mira, said[0].session)
    correct_message(said[2], "I like black tea.", NOW)
    assert Message.objects.get(pk=said[2].pk).is_learnt


def test_a_note_of_the_old_words_goes_and_the_others_stay(mira: Companion, said: list[Message]) -> None:
    Session.objects.filter(companion=mira).update(scratch=f"She said {MARKER}.\nBring tea.")
    correct_message(said[0], MEANT, NOW)
    assert Session.objects.get(companion=mira).scratch == "Bring tea."


def test_the_same_words_again_change_nothing(mira: Companion, said: list[Message]) -> None:
    learnt(mira, f"Alice thinks of {MARKER}.", [(said[0], MARKER)])
    before = tables_with(MARKER)
    correct_message(said[0], SECRET, NOW)
    assert tables_with(MARKER) == before
    assert Memory.objects.get(message=said[0]).edited_at is None


@pytest.mark.parametrize("text", ["", "  \n", "a\x00b", "x" * 40_000])
def test_what_is_no_message_corrects_none(mira: Companion, said: list[Message], text: str) -> None:
    with pytest.raises(TextError):
        correct_message(said[0], text, NOW)
    assert Message.objects.get(pk=said[0].pk).text == SECRET


def test_what_the_companion_said_is_not_the_persons_to_correct(mira: Companion, said: list[Message]) -> None:
    with pytest.raises(TextError) as refused:
        correct_message(said[1], "I will tell everybody.", NOW)
    assert refused.value.code == "no_such_message"


def test_nothing_is_corrected_while_an_answer_is_made(mira: Companion, said: list[Message]) -> None:
    Reply.objects.create(companion=mira, message=said[2], created_at=NOW)
    with pytest.raises(ReplyStateError) as refused:
        correct_message(said[2], "I like black tea.", NOW)
    assert refused.value.code == "reply_open"
    assert Message.objects.get(pk=said[2].pk).text == TEA


def test_the_profile_says_what_a_corrected_memory_says(mira: Companion, said: list[Message]) -> None:
    """What the companion was told by its person stands in what it draws from that; the talk and the diary stay."""
    fact = learnt(mira, f"Alice opens her locker with {MARKER}.", [(said[0], MARKER)])
    thought = insight(mira, f"{MARKER} matters to Alice.", fact)
    other = insight(mira, "Alice has a locker.", fact)
    entry = diary(mira, said[0].session, told(f"Alice named {MARKER}.", said[0]))
    tea = told("Alice likes tea.", said[2])
    profile(mira, told(f"A locker, {MARKER}.", said[0]), tea)
    profile(mira, told(f"I know of {MARKER}.", said[0]), tea, about="self_concept")
    set_slot(mira.pk, "locker", f"It is {MARKER}", by=By.COMPANION, now=NOW, source_ids=[said[0].pk])
    correct_memory(fact, "Alice opens her locker with a key.", NOW)

    sentences = load_current(mira.pk, Revision.About.USER_PROFILE).sentences  # type: ignore[union-attr]
    assert [sentence["text"] for sentence in sentences] == [
        "Alice opens her locker with a key.",
        "Alice likes tea.",
    ]
    assert sentences[0]["sources"] == [str(said[0].pk)]
    assert [one["text"] for one in load_current(mira.pk, Revision.About.SELF_CONCEPT).sentences] == [  # type: ignore[union-attr]
        "Alice likes tea."
    ]
    assert not Slot.objects.filter(companion=mira).exists()
    assert not Memory.objects.filter(pk=thought.pk).exists()
    assert Memory.objects.filter(pk=other.pk).exists()
    entry.refresh_from_db()
    assert MARKER in entry.summary
    assert Message.objects.get(pk=said[0].pk).text == SECRET


def test_a_memory_that_says_more_changes_nothing_else(mira: Companion, said: list[Message]) -> None:
    fact = learnt(mira, f"Alice opens her locker with {MARKER}.", [(said[0], MARKER)])
    revision = profile(mira, told(f"A locker, {MARKER}.", said[0]))
    correct_memory(fact, f"Alice opens her locker with {MARKER} and a key.", NOW)
    assert load_current(mira.pk, Revision.About.USER_PROFILE) == revision


def test_a_correction_leaves_closed_what_has_been_replaced(mira: Companion, said: list[Message]) -> None:
    """The profile that it writes is the person's, and what they write stays: they wrote nothing of where Ana lives."""
    fact = learnt(mira, CAT, [(said[0], "locker")])
    first = learnt(mira, "Ana lives in Berlin.", [(said[2], TEA)])
    profile(mira, told(CAT, said[0]), told(first.text, said[2]))
    second = learnt(mira, "Ana lives in Kiel.", [(said[4], RAIN)])
    retract(first, said[4].said_at, replaced_by=second)
    for text in (DOG, CAT, DOG):
        correct_memory(fact, text, NOW + HOUR)
        revision = load_current(mira.pk, Revision.About.USER_PROFILE)
        assert revision
        assert [sentence["text"] for sentence in load_holding(revision)] == [text, second.text]
    correct_memory(second, "Ana lives in Rome.", NOW + HOUR)
    revision = load_current(mira.pk, Revision.About.USER_PROFILE)
    assert revision
    assert revision.text.splitlines() == [DOG, "Ana lives in Rome."]


CAT, DOG = "Ana has a cat called Tom.", "Ana has a dog called Tom."


def test_what_was_sent_to_models_goes_with_old_words_and_with_slots_and_blocks(
    as_alice: Api, mira: Companion, said: list[Message]
) -> None:
    fact = learnt(mira, CAT, [(said[0], "locker")])
    set_slot(mira.pk, "pet", CAT, by=By.USER, now=NOW)
    set_slot(mira.pk, "sure", "no", by=By.USER, now=NOW)
    write_block(mira.pk, "pets", f"{CAT}\nFish?", by=By.USER, now=NOW)

    def shows(text: str, name: str) -> Prompt:
        reply = Reply.objects.create(companion=mira, message=said[0], state=Reply.State.DONE, created_at=NOW)
        messages = [{"role": "system", "content": f"<kith-x>\n- {name}: {quoted(text)}\n</kith-x>"}]
        return Prompt.objects.create(companion=mira, reply=reply, messages=messages, created_at=NOW)

    shows(CAT, "pet")
    of_sure = shows("no", "sure")
    for delete in (
        lambda: correct_memory(fact, DOG, NOW),
        lambda: as_alice.call("DELETE", f"/companions/{mira.pk}/slots/pet"),
        lambda: as_alice.call("DELETE", f"/companions/{mira.pk}/blocks/pets"),
    ):
        call = ModelCall.objects.create(
            user=mira.user, companion=mira, purpose="closing", sent=[{"content": CAT}], started_at=NOW
        )
        delete()
        call.refresh_from_db()
        assert call.sent is None
    assert list(Prompt.objects.all()) == [of_sure]  # and not what has another "no" in it
    shows(f"{CAT}\nFish?", "pets")
    write_block(mira.pk, "pets", f"{CAT}\nFish?", by=By.USER, now=NOW)
    as_alice.call("DELETE", f"/companions/{mira.pk}/blocks/pets")
    assert list(Prompt.objects.all()) == [of_sure]
    as_alice.call("DELETE", f"/companions/{mira.pk}/slots/sure")
    assert not Prompt.objects.exists()


@pytest.mark.parametrize(
    "fields", [{"is_private": True}, {"closed_at": NOW}, {"kind": "diary"}, {"kind": "insight"}]
)
def test_what_is_no_fact_that_holds_corrects_nothing_but_itself(
    mira: Companion, said: list[Message], fields: dict[str, Any]
) -> None:
    memory = learnt(mira, CAT, [(said[0], "locker")], **fields)
    revision = profile(mira, told("She has a cat.", said[0]))
    correct_memory(memory, DOG, NOW)
    assert Memory.everywhere.get(pk=memory.pk).text == DOG
    assert load_current(mira.pk, Revision.About.USER_PROFILE) == revision


def test_a_sentence_that_other_messages_are_behind_keeps_what_it_tells(
    mira: Companion, said: list[Message]
) -> None:
    memory = learnt(mira, CAT, [(said[0], "locker")])
    revision = profile(mira, told("She is a nurse and has a cat.", said[0], said[2]))
    correct_memory(memory, DOG, NOW)
    assert load_current(mira.pk, Revision.About.USER_PROFILE) == revision


def test_a_correction_leaves_other_branches_their_own(as_alice: Api, mira: Companion) -> None:
    """The memory holds on every branch; what each drew is its own: diary, profile, slots, notes."""
    first, second = say(mira, "I have a cat, Tom.", "How nice!", at=NOW)
    memory = keep_fact(mira.pk, CAT, NOW, NOW, [first.pk])
    write_block(mira.pk, "notes", "Be kind.", by=By.USER, now=NOW)
    profile(mira, told("She has a cat.", first))
    third, _fourth = say(mira, "A cat sat on the wall.", "Sweet.", at=NOW + HOUR)
    diary(mira, third.session, told("We met a cat on a wall.", third), title="A walk")
    profile(mira, told("She has a cat.", first), told("A neighbour has a cat, too.", third))
    set_slot(mira.pk, "pet", "a cat", by=By.COMPANION, now=NOW, source_ids=[third.pk])

    fork(mira, second.pk, NOW)
    there = Branch.objects.get(companion=mira, left_at=NOW)
    [secret] = say(mira, "I stole a bicycle.", at=NOW + 2 * HOUR)
    profile(mira, told("She has a cat.", first), told("She stole a bicycle.", secret))
    set_slot(mira.pk, "pet", "a cat, Tom", by=By.COMPANION, now=NOW, source_ids=[first.pk])
    for text, source in (("She has a cat.", first), ("A bicycle!", secret)):
        append_to_block(mira.pk, "notes", text, by=By.COMPANION, now=NOW, source_ids=[source.pk])
    assert (
        as_alice.call("PATCH", f"/companions/{mira.pk}/memories/{memory.pk}", {"text": DOG}).status_code
        == 200
    )
    assert [one["text"] for one in load_current(mira.pk, "user_profile").sentences] == [  # type: ignore[union-attr]
        DOG,
        "She stole a bicycle.",
    ]
    assert not Slot.objects.filter(companion=mira).exists()
    assert Block.objects.get(companion=mira).text == "Be kind.\nA bicycle!"

    choose(there, NOW)
    assert Memory.objects.get(pk=memory.pk).text == DOG
    assert DiaryEntry.objects.get(companion=mira).summary == "We met a cat on a wall."
    assert [one["text"] for one in load_current(mira.pk, "user_profile").sentences] == [  # type: ignore[union-attr]
        "She has a cat.",
        "A neighbour has a cat, too.",
    ]
    assert Slot.objects.get(companion=mira).text == "a cat"
    assert Block.objects.get(companion=mira).text == "Be kind."

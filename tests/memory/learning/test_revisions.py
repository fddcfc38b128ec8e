"""Sentences of self-concept and profile whose memory was closed no longer count as they stand."""

from datetime import UTC, timedelta
from typing import Any

import pytest

from companions.models import Companion
from memory.learning.revisions import add_revision, load_holding
from memory.models import Memory, Revision
from memory.store import keep_fact, retract
from tests.memory.conftest import DAY, Say
from tests.memory.learning.conftest import NOW, Had, apply, facts, learnt

pytestmark = pytest.mark.usefixtures("module_mira")
LATER = DAY + timedelta(days=3)
NURSE, SAID = "Alice works as a nurse in Porto.", "I work as a nurse in Porto."


def worked(companion: Companion, had: Had) -> tuple[Memory, str]:
    """What was learnt of Alice's work, and the id of the message that tells it."""
    talk = had(companion, SAID)
    apply(companion, talk, learnt(NURSE, 1, SAID))
    return facts(companion)[0], str(talk[1].message_id)


def profile(companion: Companion, *sentences: tuple[str, str], **more: Any) -> Revision:
    told = [{"text": text, "sources": [source] if source else []} for text, source in sentences]
    made = {"by": "closing", "made_at": DAY, "number": 1, **more}
    return Revision.objects.create(companion=companion, about="user_profile", sentences=told, **made)


def holding(revision: Revision) -> list[str]:
    return [sentence["text"] for sentence in load_holding(revision)]


def test_the_memory_that_holds_stands_for_the_sentence_that_told_the_one_before(
    mira: Companion, had: Had
) -> None:
    before, told = worked(mira, had)
    revision = profile(mira, ("Alice is a nurse and works in Porto.", told), ("Alice sings.", told))
    assert holding(revision) == ["Alice is a nurse and works in Porto.", "Alice sings."]
    talk = had(mira, "I work as a teacher in Lisbon now.", at=LATER)
    new = learnt("Alice works as a teacher in Lisbon.", 1, talk[1].text, verdict="revise", of=1)
    apply(mira, talk, new, known=[before])
    after = facts(mira)[-1]
    assert holding(revision) == [after.text, "Alice sings."]
    assert set(load_holding(revision)[0]["sources"]) == {str(after.pk), str(talk[1].message_id)}
    Memory.objects.of(mira.pk).filter(pk=after.pk).update(is_private=True)
    assert holding(revision) == ["Alice sings."]


def test_without_a_memory_that_holds_instead_the_sentence_is_left_out(mira: Companion, had: Had) -> None:
    before, told = worked(mira, had)
    revision = profile(mira, (NURSE, told), ("Alice works as a nurse and dreams of a boat of her own.", told))
    retract(before, LATER)
    assert holding(revision) == ["Alice works as a nurse and dreams of a boat of her own."]


def test_what_was_told_again_or_written_by_the_person_stays(mira: Companion, had: Had) -> None:
    before, told = worked(mira, had)
    retract(before, LATER)
    again = str(had(mira, SAID, at=LATER + timedelta(days=1))[1].message_id)
    assert holding(profile(mira, (NURSE, told))) == []
    assert holding(profile(mira, (NURSE, again), number=2)) == [NURSE]
    assert holding(profile(mira, (NURSE, told), by="restored", made_at=NOW, number=3)) == [NURSE]


def test_a_full_profile_makes_room_for_what_matters_more(mira: Companion, say: Say) -> None:
    boats = [f"My boat number {n} leaks." for n in range(20)]
    said = say(mira, "I rarely eat cake.", "I am allergic to walnuts.", *boats, "My daughter Ida was born.")
    facts = []
    for memory, importance in zip(said, (9, 9, *[5] * 20, 10), strict=True):
        facts.append(keep_fact(mira.pk, memory.text, DAY, DAY, zone=UTC, source_ids=[memory.message_id]))
        Memory.objects.filter(pk=facts[-1].pk).update(importance=importance)
    retract(facts[0], LATER)
    retract(facts[1], LATER, replaced_by=facts[-1])
    sentences = [{"text": memory.text, "sources": [str(memory.message_id)]} for memory in said]
    sentences.insert(0, {"text": "Alice wrote this.", "sources": []})
    kept = add_revision(mira.pk, "user_profile", sentences, Revision.By.CLOSING, NOW)
    # Of what matters as much, those go that were told first.
    texts = ["Alice wrote this.", "I am allergic to walnuts.", *boats[3:], "My daughter Ida was born."]
    assert [sentence["text"] for sentence in kept.sentences] == texts

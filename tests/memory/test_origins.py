"""Where recalled memories come from, and what of them says the same thing twice."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from companions.models import Companion
from memory.learning.neighbours import find_holding
from memory.models import Change, Consolidation, Memory
from memory.recall.origins import add_holding, drop_repetitions, load_origins
from memory.recall.recall import Found
from memory.store import keep_fact
from tests.memory.conftest import DAY, Say

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]


def found(memory: Memory, *matched: str) -> Found:
    return Found(memory, 1.0, {"matched": list(matched)})


def learnt(line: Memory, text: str, **fields: Any) -> Memory:
    """A fact that was drawn from that line."""
    fact = keep_fact(line.companion_id, text, DAY, DAY)
    fact.sources.add(line.message)  # type: ignore[arg-type]
    Memory.objects.filter(pk=fact.pk).update(**fields)
    return Memory.objects.get(pk=fact.pk)


def kept(companion: Companion, *some: Found, messages: Any = (), texts: Any = ()) -> list[str]:
    origins = load_origins(companion.pk, [one.memory for one in some])
    return [one.memory.text for one in drop_repetitions(some, origins, messages, texts)[0]]


LINE = "I moved to Porto in May and my sister Marta is a nurse there."


def test_of_a_fact_and_its_line_the_fact_stays_where_it_says_as_much(mira: Companion, say: Say) -> None:
    (line,) = say(mira, LINE)
    fact = learnt(line, "Marta, Alice's sister, is a nurse.")
    assert kept(mira, found(line, "nurs"), found(fact, "nurs")) == [fact.text]


def test_the_line_stays_where_it_says_more_of_what_was_asked(mira: Companion, say: Say) -> None:
    (line,) = say(mira, LINE)
    fact = learnt(line, "Marta, Alice's sister, is a nurse.")
    assert kept(mira, found(line, "move", "porto"), found(fact)) == [LINE]


def test_several_facts_together_stand_for_their_line(mira: Companion, say: Say) -> None:
    (line,) = say(mira, LINE)
    moved, nurse = learnt(line, "Alice moved to Porto in May."), learnt(line, "Marta is a nurse.")
    both = [moved.text, nurse.text]
    assert kept(mira, found(line, "move", "nurs"), found(moved, "move"), found(nurse, "nurs")) == both


def test_a_fact_of_what_stands_in_the_prompt_is_no_news(mira: Companion, say: Say) -> None:
    line, other = say(mira, LINE, "I like tea.")
    fact = learnt(line, "Marta is a nurse.")
    assert kept(mira, found(fact), messages=[line.message_id]) == []
    fact.sources.add(other.message)  # type: ignore[arg-type]
    assert kept(mira, found(fact), messages=[line.message_id]) == [fact.text]


def test_what_a_pinned_sentence_says_is_not_said_again(mira: Companion) -> None:
    fact = keep_fact(mira.pk, "Marta is a nurse.", DAY, DAY)
    assert kept(mira, found(fact), texts=["Her sister Marta is a nurse in Porto."]) == []
    assert kept(mira, found(fact), texts=["Her sister Marta is in Porto.", "A nurse is kind."]) == [fact.text]


def test_the_same_words_come_once_the_first_of_them(mira: Companion, say: Say) -> None:
    one, two = say(mira, "I like green tea.", "Green tea, I like!")
    assert kept(mira, found(two), found(one)) == [two.text]


def test_a_diary_entry_repeats_no_line(mira: Companion, say: Say) -> None:
    (line,) = say(mira, LINE)
    entry = learnt(line, "We spoke of Marta, the nurse.", kind="diary")
    assert kept(mira, found(line, "nurs"), found(entry, "nurs")) == [LINE, entry.text]


def test_a_line_is_outdated_where_what_was_learnt_from_it_was_replaced(mira: Companion, say: Say) -> None:
    coffee, both, fine = say(mira, "I drink five cups of coffee.", "I drink tea and I run.", "I like tea.")
    now, later = keep_fact(mira.pk, "Alice has stopped drinking coffee.", DAY, DAY), DAY + timedelta(days=1)
    learnt(coffee, "Alice drinks five cups of coffee.", closed_at=later, replaced_by=now)
    learnt(both, "Alice drinks tea.", closed_at=later, replaced_by=now)
    learnt(both, "Alice runs.")
    # Closed, and nothing took its place: a slot was rewritten.
    learnt(fine, "Alice likes tea.", closed_at=later)
    origins = load_origins(mira.pk, [coffee, both, fine])
    assert origins.outdated == {coffee.pk: {now.pk}, both.pk: {now.pk}}
    assert origins.partly == {both.pk}


def test_before_an_outdated_line_stands_what_holds_instead_in_the_end(mira: Companion, say: Say) -> None:
    porto, tea = say(mira, "I live in Porto.", "I like tea.")
    rome, faro = (keep_fact(mira.pk, f"Alice lives in {town}.", DAY, DAY) for town in ("Rome", "Faro"))
    learnt(porto, "Alice lives in Porto.", closed_at=DAY, replaced_by=rome)
    Memory.objects.filter(pk=rome.pk).update(closed_at=DAY, replaced_by=faro)
    some = [found(tea), found(porto)]
    origins = load_origins(mira.pk, [tea, porto])

    def add(*some: Found, shown: Any = ()) -> list[str]:
        return [one.memory.text for one in add_holding(mira.pk, some, origins, shown)]

    assert add(*some) == [tea.text, "Alice lives in Faro.", porto.text]
    assert add(*some, found(faro)) == [tea.text, porto.text, faro.text]
    assert add(*some, shown=[faro.pk]) == [tea.text, porto.text]
    Memory.objects.filter(pk=faro.pk).update(is_private=True)
    assert add(*some) == [tea.text, porto.text]


def test_what_was_replaced_several_times_leads_to_what_holds_from_each_of_its_steps(mira: Companion) -> None:
    towns = [
        keep_fact(mira.pk, f"Alice lives in {town}.", DAY, DAY) for town in ("Porto", "Rome", "Faro", "Bari")
    ]
    for before, after in pairwise(towns):
        Memory.objects.filter(pk=before.pk).update(closed_at=DAY, replaced_by=after)
    ids, last = [town.pk for town in towns], towns[-1]
    assert find_holding(mira.pk, ids) == dict.fromkeys(ids, last)
    Memory.objects.filter(pk=last.pk).update(closed_at=DAY, replaced_by=towns[0])  # in a circle
    assert find_holding(mira.pk, ids) == {}


def test_what_was_merged_or_put_right_is_not_partly_true(mira: Companion, say: Say) -> None:
    merged, revised = say(mira, "I like tea.", "My sister is called Marta.")
    one, whole = learnt(merged, "Alice likes tea."), learnt(merged, "Alice likes tea very much.")
    Memory.objects.filter(pk=one.pk).update(closed_at=DAY, replaced_by=whole)
    night = Consolidation.objects.create(companion=mira, night_of=DAY.date(), asked_at=DAY, next_at=DAY)
    change = Change.objects.create(companion=mira, consolidation=night, number=1, kind="merged", memory=whole)
    change.others.add(one)
    right = learnt(revised, "Alice's sister is called Martha.")
    learnt(revised, "Alice's sister is called Marta.", closed_at=DAY, replaced_by=right)
    origins = load_origins(mira.pk, [merged, revised])
    assert (origins.outdated, origins.partly) == ({revised.pk: {right.pk}}, frozenset())


def test_a_line_belongs_to_a_game_that_began_before_it(mira: Companion, say: Say) -> None:
    before, _begins, played, _ends, after, known = say(
        mira,
        "I live in Porto.",
        "Let's pretend we are at sea.",
        "I am the captain of this ship, and I live on it.",
        "Okay, back to real life.",
        "I have to work tomorrow.",
        "Let's play chess. I work in a bank.",
    )
    learnt(known, "Alice works in a bank.")
    assert load_origins(mira.pk, [before, played, after, known]).played == {played.pk}


def test_what_is_denied_is_not_the_same(mira: Companion, say: Say) -> None:
    meat, none = say(mira, "I eat meat.", "I do not eat meat.")
    assert kept(mira, found(meat, "meat"), found(none, "meat")) == [meat.text, none.text]
    fact = keep_fact(mira.pk, "Alice doesn't like coffee.", DAY, DAY)
    assert kept(mira, found(fact), texts=["Alice likes coffee a lot."]) == [fact.text]


def test_a_line_found_by_its_meaning_alone_stays_where_it_comes_first(mira: Companion, say: Say) -> None:
    (line,) = say(mira, LINE)
    fact = learnt(line, "Marta, Alice's sister, is a nurse.")
    assert kept(mira, found(line), found(fact)) == [LINE]
    assert kept(mira, found(fact), found(line)) == [fact.text]


def test_what_the_other_says_in_the_same_words_stays(mira: Companion, say: Say) -> None:
    (mine,) = say(mira, "I like green tea.")
    (theirs,) = say(mira, "Green tea, I like!", role="assistant")
    assert kept(mira, found(mine), found(theirs)) == [mine.text, theirs.text]


def test_nothing_found_asks_nothing_and_much_is_one_query(
    mira: Companion, say: Say, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        load_origins(mira.pk, [])
    lines = say(mira, *(f"Thing {n}" for n in range(20)))
    facts = [learnt(line, f"Fact of {line.text}") for line in lines]
    with django_assert_num_queries(1):
        load_origins(mira.pk, [*lines, *facts])
    others = say(mira, *(f"Another thing {n}" for n in range(20)))
    with django_assert_num_queries(2):  # nothing was learnt of them: they may have been played
        load_origins(mira.pk, others)

"""By night: what says the same becomes one, what contradicts itself is brought up, what comes back is told once."""

from datetime import UTC, date, timedelta

import pytest

from accounts.models import ModelCall
from companions.memories import consolidation
from companions.memories.threads import load_threads
from companions.models import Companion
from memory.consolidation.candidates import find_candidates
from memory.models import Change, Consolidation, Memory, Pursuit, Thread
from memory.threads import close_thread, open_thread
from tests.fixtures.rehearsal import RehearsalServer
from tests.memory.consolidation.conftest import DAY, LATER, NIGHT, Know, Work, calls

pytestmark = pytest.mark.usefixtures("module_mira")


def test_near_duplicates_become_one_with_the_evidence_of_all(mira: Companion, know: Know, work: Work) -> None:
    one = know(mira, "Alice plays the cello in an orchestra", evidence=2)
    two = know(mira, "Alice plays cello in the orchestra", evidence=3)
    [change] = work(mira, lambda at: {"merges": [{"keep": at(one), "others": [at(two)]}]})
    one.refresh_from_db()
    two.refresh_from_db()
    assert (change.kind, one.evidence, one.closed_at) == ("merged", 5, None)
    assert (two.closed_at, two.replaced_by, two.evidence) == (NIGHT, one, 3)
    assert {*one.sources.values_list("text", flat=True)} == {one.text, two.text}
    assert [quote["text"] for quote in one.quotes] == [one.text, two.text]


def test_a_message_that_two_memories_were_drawn_from_is_evidence_once(
    mira: Companion, know: Know, work: Work
) -> None:
    one = know(mira, "Alice plays the cello in an orchestra", evidence=1)
    two = know(mira, "Alice plays cello in the orchestra", evidence=2)
    two.quotes.append(one.quotes[0])
    two.save(update_fields=["quotes"])
    work(mira, lambda at: {"merges": [{"keep": at(one), "others": [at(two)]}]})
    one.refresh_from_db()
    assert one.evidence == 2


@pytest.mark.parametrize(
    ("kept", "other"),
    [
        (("Ana likes tea more than coffee", "preference"), ("Ana prefers tea to coffee", "fact")),
        (
            ("Ana teaches chemistry at a school in Lisbon", "fact"),
            ("Ana is a chemistry teacher", "relationship"),
        ),
        (("Ana meets the headmistress on Thursday", "event"), ("Ana will meet the headmistress", "promise")),
        (
            ("Ana meets the headmistress on 4 May", "event"),
            ("Ana is to meet the headmistress tomorrow", "promise"),
        ),
    ],
)
def test_what_says_no_more_is_merged_of_whatever_kind_it_is(
    mira: Companion, know: Know, work: Work, kept: tuple[str, str], other: tuple[str, str]
) -> None:
    """The third of May is a Wednesday: of one thing, models make an event now, a promise then."""
    one = know(mira, *kept)
    two = know(mira, *other, at=DAY + timedelta(days=1))
    [change] = work(
        mira, lambda at: {"merges": [{"keep": at(one), "others": [at(two)]}]}, now=NIGHT + 2 * LATER
    )
    two.refresh_from_db()
    assert (change.kind, two.replaced_by) == ("merged", one)


def test_an_open_thread_goes_on_with_what_is_kept(mira: Companion, know: Know, work: Work) -> None:
    one = know(mira, "Ana has to meet the headmistress on Thursday", "event")
    two = know(mira, "Ana will meet the headmistress on Thursday", "promise")
    thread = open_thread(two, date(2023, 5, 4), DAY)
    [change] = work(mira, lambda at: {"merges": [{"keep": at(one), "others": [at(two)]}]})
    assert [*load_threads(mira)] == [thread]
    assert load_threads(mira)[0].memory == one
    consolidation.undo_change(mira, change.pk, NIGHT + LATER)
    assert load_threads(mira)[0].memory == two


def test_the_open_thread_goes_on_though_another_is_settled(mira: Companion, know: Know, work: Work) -> None:
    kept = know(mira, "Ana has to meet the headmistress on Thursday", "event")
    told = know(mira, "Ana is to meet the headmistress on Thursday", "event")
    promised = know(mira, "Ana will meet the headmistress on Thursday", "promise")
    close_thread(open_thread(told, None, DAY), Thread.State.SETTLED, DAY)
    thread = open_thread(promised, date(2023, 5, 4), DAY)
    work(mira, lambda at: {"merges": [{"keep": at(kept), "others": [at(told), at(promised)]}]})
    thread.refresh_from_db()
    assert (thread.memory, thread.state) == (kept, Thread.State.OPEN)


def test_what_is_open_is_not_closed_for_what_is_settled(mira: Companion, know: Know, work: Work) -> None:
    settled = know(mira, "Ana has to meet the headmistress on Thursday", "event")
    promised = know(mira, "Ana will meet the headmistress on Thursday", "promise")
    close_thread(open_thread(settled, None, DAY), Thread.State.SETTLED, DAY)
    open_thread(promised, date(2023, 5, 4), DAY)
    assert work(mira, lambda at: {"merges": [{"keep": at(settled), "others": [at(promised)]}]}) == []
    promised.refresh_from_db()
    assert promised.closed_at is None


def test_what_is_pursued_is_not_closed_for_what_is_not(mira: Companion, know: Know, work: Work) -> None:
    goal = know(mira, "I want to learn to swim this year", "goal")
    fact = know(mira, "I would like to learn to swim this year", "fact")
    assert work(mira, lambda at: {"merges": [{"keep": at(fact), "others": [at(goal)]}]}) == []


def test_a_contradiction_is_brought_up_and_nothing_is_closed(mira: Companion, know: Know, work: Work) -> None:
    one = know(mira, "Alice likes coffee in the morning", "preference")
    two = know(mira, "Alice does not like coffee in the morning", "preference")
    [change] = work(mira, lambda at: {"contradictions": [{"a": at(one), "b": at(two)}]})
    assert (change.kind, change.memory, [*change.others.all()]) == ("contradiction", one, [two])
    assert Memory.objects.of(mira.pk).filter(closed_at__isnull=False).count() == 0


def test_a_merge_of_what_differs_in_a_number_is_a_contradiction(
    mira: Companion, know: Know, work: Work
) -> None:
    one, two = (
        know(mira, "The rent of the flat is 900 euros"),
        know(mira, "The rent of the flat is 950 euros"),
    )
    [change] = work(mira, lambda at: {"merges": [{"keep": at(one), "others": [at(two)]}]})
    assert (change.kind, change.memory) == ("contradiction", one)
    assert Memory.objects.of(mira.pk).filter(closed_at__isnull=False).count() == 0


def test_an_insight_is_linked_to_what_it_is_drawn_from(mira: Companion, know: Know, work: Work) -> None:
    told = [
        know(mira, text)
        for text in (
            "Alice swims in the lake on Sundays",
            "Alice swims before work",
            "Alice swims when she is sad",
        )
    ]
    text = "Swimming holds Alice's week together"
    [change] = work(
        mira, lambda at: {"insights": [{"text": text, "from": [*map(at, told)], "importance": 7}]}
    )
    insight = change.memory
    assert (change.kind, insight.kind, insight.text, insight.importance) == ("insight", "insight", text, 7)
    assert {*insight.drawn_from.all()} == {*told} == {*change.others.all()}
    assert {*insight.sources.all()} == {source for one in told for source in one.sources.all()}
    assert insight.call is not None
    assert insight.call.purpose == ModelCall.Purpose.CONSOLIDATION


def test_a_goal_is_reviewed(mira: Companion, know: Know, work: Work) -> None:
    goal = know(mira, "Alice wants to run a marathon", "goal")
    know(mira, "Alice has begun to train for the marathon", "event")
    # Numbered on from two memories.
    review = {"of": 3, "status": "under_way", "progress": 20, "excitement": 8}
    [change] = work(mira, {"reviews": [review]})
    pursuit = Pursuit.objects.get(memory=goal)
    assert (change.kind, change.memory) == ("reviewed", goal)
    assert (pursuit.status, pursuit.progress, pursuit.excitement) == ("under_way", 20, 8)
    assert (pursuit.reviewed_at, pursuit.moved_at) == (NIGHT, NIGHT)


def test_a_goal_stands_among_the_goals_and_nowhere_else(mira: Companion, know: Know) -> None:
    goal = know(mira, "Alice wants to run a marathon", "goal")
    know(mira, "Alice has begun to train for the marathon", "event")
    found = find_candidates(mira.pk, None, zone=UTC, room=5000, names=mira.names)
    assert [pursuit.memory for pursuit in found.goals] == [goal]
    assert [memory.text for memory in found.memories] == ["Alice has begun to train for the marathon"]


def test_a_whole_night_with_the_rehearsal_models_own_answer(mira: Companion, know: Know, work: Work) -> None:
    for text in ("Alice plays the cello on Sundays", "On Sundays Alice plays the cello"):
        know(mira, text)
    kinds = [change.kind for change in work(mira)]
    assert kinds == ["merged"]


def test_nothing_to_ask_about_asks_nobody(
    mira: Companion, know: Know, work: Work, rehearsal: RehearsalServer
) -> None:
    know(mira, "Alice plays the cello")
    assert work(mira) == []
    assert calls(rehearsal) == 0
    assert Consolidation.objects.get().state == Consolidation.State.DONE


def test_a_night_is_one_call_and_a_second_run_changes_nothing(
    mira: Companion, know: Know, work: Work, rehearsal: RehearsalServer
) -> None:
    from tests.memory.consolidation.conftest import done

    know(mira, "Alice plays the cello on Sundays")
    know(mira, "On Sundays Alice plays the cello")
    first = work(mira)
    assert done(mira, NIGHT + timedelta(hours=1)) == first
    assert calls(rehearsal) == 1
    assert Change.objects.count() == 1

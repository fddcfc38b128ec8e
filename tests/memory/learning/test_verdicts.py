"""Every verdict, right, wrong or absurd, is applied or stopped as the guards say."""

from datetime import UTC, date, timedelta
from zoneinfo import ZoneInfo

import pytest

from companions.models import Companion
from memory.learning.contradictions import find_contradicted, find_pairs
from memory.models import Learning, Memory, Pursuit
from memory.store import keep_fact
from tests.memory.conftest import DAY
from tests.memory.learning.conftest import NAMES, NOW, Had, apply, facts, learnt, outcomes

pytestmark = pytest.mark.usefixtures("module_mira")
TEA = "Alice's favourite drink is tea."
FIVE = [
    "Nothing beats a cup of tea for me.",
    "Tea is what I like best of all drinks.",
    "I'd choose tea over any other drink.",
    "My favourite? Tea, as ever.",
    "Put the kettle on, tea is my one and only drink.",
]


def keep(
    companion: Companion, had: Had, text: str = TEA, said: str = FIVE[0], by: str = "", **fields: object
) -> Memory:
    """A memory that was learnt from what the user said, or by "> " the companion."""
    apply(companion, had(companion, f"{by}{said}"), learnt(text, 1, said, **fields))
    return facts(companion)[-1]


def test_what_is_added_knows_all_about_itself(mira: Companion, had: Had) -> None:
    talk = had(mira, "Hello!", "I am allergic to walnuts, it scares me.")
    one = learnt(
        "Alice is allergic to walnuts.",
        2,
        "I am allergic  to walnuts",
        importance=9,
        aversion=0.7,
        confidence=0.9,
    )
    learning = apply(mira, talk, one)
    (memory,) = facts(mira)
    assert (memory.kind, memory.text, memory.importance) == ("fact", "Alice is allergic to walnuts.", 9)
    assert (memory.aversion, memory.joy, memory.confidence, memory.evidence) == (0.7, 0, 0.9, 1)
    assert (memory.happened_at, memory.learnt_at) == (talk[2].said_at, NOW)
    assert memory.quotes == [{"message": str(talk[2].message_id), "text": "I am allergic to walnuts"}]
    assert [one.pk for one in memory.sources.all()] == [talk[2].message_id]
    assert memory.entry
    assert learning.pk
    assert learning.messages == 2
    assert learning.verdicts == [
        {
            "verdict": "add",
            "kind": "fact",
            "memory": str(memory.pk),
            "of": None,
            "outcome": "added",
            "reason": "",
        }
    ]


def test_a_fact_said_in_five_ways_ends_as_one_memory_with_evidence_five(mira: Companion, had: Had) -> None:
    tea = keep(mira, had)
    for n, said in enumerate(FIVE[1:], start=1):
        talk = had(mira, said, at=DAY + timedelta(days=n))
        apply(mira, talk, learnt(TEA, 1, said, verdict="reinforce", of=1), known=[tea])
    (memory,) = facts(mira)
    assert memory.evidence == 5
    assert len(memory.quotes) == memory.sources.count() == 5
    assert memory.confidence > 0.9
    assert memory.happened_at == tea.happened_at


def test_five_ways_in_one_batch_are_one_memory_too(mira: Companion, had: Had) -> None:
    talk = had(mira, *FIVE)
    apply(mira, talk, *(learnt(TEA, n, said) for n, said in enumerate(FIVE, start=1)))
    (memory,) = facts(mira)
    assert memory.evidence == 5


def test_a_changed_preference_closes_the_old_and_answers_the_new(mira: Companion, had: Had) -> None:
    tea = keep(mira, had, kind="preference")
    said = "I've gone off tea, it's coffee for me now."
    changed = had(mira, said, at=DAY + timedelta(days=3))
    new = learnt("Alice prefers coffee.", 1, said, verdict="revise", of=1, kind="preference")
    assert outcomes(apply(mira, changed, new, known=[tea])) == [("revised", "")]
    old, coffee = facts(mira)
    assert (old.pk, old.closed_at, old.replaced_by) == (tea.pk, changed[1].said_at, coffee)
    assert (coffee.evidence, coffee.closed_at) == (1, None)
    learnt_ones = Memory.objects.of(mira.pk).exclude(kind="said")
    assert [one.text for one in learnt_ones.open()] == ["Alice prefers coffee."]
    assert [one.text for one in learnt_ones.as_of(DAY + timedelta(days=2))] == [TEA]
    assert [one.text for one in learnt_ones.as_of(DAY + timedelta(days=4))] == ["Alice prefers coffee."]


def test_who_moves_no_longer_lives_there_though_no_word_is_the_same(mira: Companion, had: Had) -> None:
    bonn = keep(mira, had, "Alice lives in Bonn.", "I live in Bonn.")
    said = "We moved to Berlin last week."
    talk = had(mira, said, at=DAY + timedelta(days=3))
    apply(mira, talk, learnt("Alice moved to Berlin.", 1, said, verdict="revise", of=1), known=[bonn])
    assert [one.text for one in facts(mira) if not one.closed_at] == ["Alice moved to Berlin."]


def test_what_is_denied_is_taken_back_and_stays_in_the_past(mira: Companion, had: Had) -> None:
    walnuts = keep(mira, had, "Alice is allergic to walnuts.", "I am allergic to walnuts.")
    said = "I was wrong, I'm not allergic to walnuts."
    talk = had(mira, said, at=DAY + timedelta(days=1))
    back = learnt("Alice is not allergic to walnuts.", 1, said, verdict="retract", of=1)
    assert outcomes(apply(mira, talk, back, known=[walnuts])) == [("retracted", "")]
    (memory,) = facts(mira)
    assert (memory.closed_at, memory.replaced_by) == (talk[1].said_at, None)
    assert outcomes(apply(mira, talk, back, known=[walnuts])) == [("already", "")]


def test_what_is_only_mentioned_is_not_taken_back(mira: Companion, had: Had) -> None:
    walnuts = keep(mira, had, "Alice is allergic to walnuts.", "I am allergic to walnuts.")
    said = "The walnuts in the garden are ripe."
    talk = had(mira, said, at=DAY + timedelta(days=1))
    back = learnt("Alice is allergic to walnuts no more.", 1, said, verdict="retract", of=1)
    assert outcomes(apply(mira, talk, back, known=[walnuts])) == [("stopped", "not_denied")]
    assert facts(mira)[0].closed_at is None


@pytest.mark.parametrize(
    ("known", "text", "reason"),
    [
        ("Alice pays 900 euros of rent.", "Alice pays 950 euros of rent.", "another_telling"),
        ("Alice is allergic to walnuts.", "Alice is not allergic to walnuts.", "another_telling"),
        ("Alice has an exam on 3 May.", "Alice has an exam on 4 May.", "another_telling"),
        ("Alice's sister is called Ida.", "Alice's brother is called Ida.", "another_subject"),
        ("Alice's sister is called Ida.", "Alice wants a red bicycle.", "another_subject"),
    ],
)
def test_what_tells_something_else_does_not_reinforce(
    mira: Companion, had: Had, known: str, text: str, reason: str
) -> None:
    memory = keep(mira, had, known, known)
    talk = had(mira, text, at=DAY + timedelta(days=1))
    again = learnt(text, 1, text, verdict="reinforce", of=1)
    assert outcomes(apply(mira, talk, again, known=[memory])) == [("added", reason)]
    assert [(one.text, one.evidence, one.closed_at) for one in facts(mira)] == [
        (known, 1, None),
        (text, 1, None),
    ]


@pytest.mark.parametrize("verdict", ["revise", "retract"])
def test_an_unrelated_mention_closes_nothing(mira: Companion, had: Had, verdict: str) -> None:
    tea = keep(mira, had)
    said = "My bicycle is not red any more, I painted it."
    talk = had(mira, said, at=DAY + timedelta(days=1))
    apply(mira, talk, learnt("Alice painted her bicycle.", 1, said, verdict=verdict, of=1), known=[tea])
    assert Memory.objects.of(mira.pk).exclude(closed_at=None).count() == 0
    assert len(facts(mira)) == (2 if verdict == "revise" else 1)


def test_a_verdict_that_only_repeats_the_old_one_closes_nothing(mira: Companion, had: Had) -> None:
    tea = keep(mira, had)
    talk = had(mira, FIVE[1], at=DAY + timedelta(days=1))
    apply(mira, talk, learnt(TEA.upper(), 1, FIVE[1], verdict="revise", of=1), known=[tea])
    (memory,) = facts(mira)
    assert (memory.evidence, memory.closed_at) == (2, None)


def test_what_was_said_before_changes_nothing_that_came_later(mira: Companion, had: Had) -> None:
    talk = had(mira, FIVE[0], at=DAY + timedelta(days=5))
    apply(mira, talk, learnt(TEA, 1, FIVE[0]))
    said = "Coffee is my favourite drink, not tea."
    earlier = had(mira, said, at=DAY)
    new = learnt("Alice's favourite drink is coffee.", 1, said, verdict="revise", of=1)
    assert outcomes(apply(mira, earlier, new, known=facts(mira))) == [("added", "older")]
    assert Memory.objects.of(mira.pk).exclude(closed_at=None).count() == 0


def test_what_the_user_told_only_the_user_can_close(mira: Companion, had: Had) -> None:
    tea = keep(mira, had)
    said = "> You do not drink tea any more, coffee is your favourite drink."
    talk = had(mira, said, at=DAY + timedelta(days=1))
    quote = said.removeprefix("> ")
    new = learnt("Alice's favourite drink is not tea.", 1, quote, verdict="revise", of=1)
    assert outcomes(apply(mira, talk, new, known=[tea])) == [("stopped", "not_theirs")]
    assert facts(mira)[0].closed_at is None


@pytest.mark.parametrize("of", [None, 0, -1, 2, 99, 10**30])
@pytest.mark.parametrize("verdict", ["reinforce", "revise", "retract"])
def test_a_number_that_there_is_not_means_nothing(
    mira: Companion, had: Had, verdict: str, of: int | None
) -> None:
    tea = keep(mira, had)
    talk = had(mira, FIVE[1], at=DAY + timedelta(days=1))
    one = learnt("Alice does not like any tea but green tea.", 1, FIVE[1], verdict=verdict, of=of)
    learning = apply(mira, talk, one, known=[tea])
    assert outcomes(learning) == [("stopped" if verdict == "retract" else "added", "unknown_memory")]
    assert Memory.objects.of(mira.pk).exclude(closed_at=None).count() == 0


@pytest.mark.parametrize("verdict", ["reinforce", "revise", "retract"])
def test_another_companions_memory_can_never_be_reached(
    mira: Companion, tian: Companion, had: Had, verdict: str
) -> None:
    theirs = keep_fact(tian.pk, TEA, DAY - timedelta(days=9), DAY)
    said = "Tea is not my favourite drink."
    talk = had(mira, said, at=DAY + timedelta(days=1))
    apply(
        mira,
        talk,
        learnt("Alice's favourite drink is not tea.", 1, said, verdict=verdict, of=1),
        known=[theirs],
    )
    before = (theirs.text, theirs.evidence, theirs.confidence, None)
    theirs.refresh_from_db()
    assert (theirs.text, theirs.evidence, theirs.confidence, theirs.closed_at) == before


@pytest.mark.parametrize(
    "change", [{"closed_at": NOW}, {"text": "Alice drinks only water."}, {"is_private": True}]
)
def test_what_changed_meanwhile_is_no_longer_meant(
    mira: Companion, had: Had, change: dict[str, object]
) -> None:
    tea = keep(mira, had)
    Memory.objects.of(mira.pk).filter(pk=tea.pk).update(**change)
    said = "Tea is not my favourite drink any more."
    talk = had(mira, said, at=DAY + timedelta(days=1))
    new = learnt("Alice's favourite drink is not tea.", 1, said, verdict="revise", of=1)
    assert outcomes(apply(mira, talk, new, known=[tea])) == [("added", "unknown_memory")]
    assert Memory.objects.of(mira.pk).filter(pk=tea.pk, replaced_by=None).count() == 1


@pytest.mark.parametrize("sources", [[0], [-1], [3], [99, 100], [10**30]])
def test_what_comes_from_no_line_is_not_kept(mira: Companion, had: Had, sources: list[int]) -> None:
    talk = had(mira, FIVE[0], "Yes.")
    one = learnt(TEA, 1, FIVE[0]).model_copy(update={"sources": sources})
    assert outcomes(apply(mira, talk, one)) == [("stopped", "no_such_line")]
    assert facts(mira) == []


def test_a_quote_stands_in_its_own_line_word_for_word(mira: Companion, had: Had) -> None:
    talk = had(mira, FIVE[0], FIVE[1])
    wrong = [learnt(TEA, 1, FIVE[1]), learnt(TEA, 1, "Nothing beats tea")]
    assert outcomes(apply(mira, talk, *wrong)) == [("stopped", "misquoted")] * 2
    assert facts(mira) == []


def test_a_quote_from_another_line_counts_once_it_is_read_so(mira: Companion, had: Had) -> None:
    talk = had(mira, FIVE[0], FIVE[1])
    apply(mira, talk, learnt(TEA, 1, FIVE[1]), read={0: "yes"})
    assert Memory.objects.get(text=TEA).sources.get().text == FIVE[1]


def test_a_quote_is_rather_one_word_for_word_from_another_line_than_nearly_one_from_its_own(
    mira: Companion, had: Had
) -> None:
    talk = had(mira, *(f"I put {count} sugars into my black tea." for count in ("five", "two")))
    apply(mira, talk, learnt("Alice takes two sugars.", 1, talk[2].text), read={0: "yes"})
    assert Memory.objects.get(text="Alice takes two sugars.").sources.get().text == talk[2].text


@pytest.mark.parametrize("said", ["My PIN is 4711.", "My password is hunter2", "我的密码是abc123"])
def test_secrets_are_not_kept(mira: Companion, had: Had, said: str) -> None:
    talk = had(mira, said)
    assert (
        outcomes(apply(mira, talk, learnt("Alice told a number.", 1, said), learnt(said, 1, said[:5])))
        == [("stopped", "secret")] * 2
    )
    assert facts(mira) == []


def test_what_a_reply_was_given_and_says_again_is_not_learnt(mira: Companion, had: Had) -> None:
    talk = had(mira, "> You love tea more than any other drink, don't you?", given=[TEA])
    one = learnt("Alice loves tea more than any other drink.", 1, "You love tea more than any other drink")
    assert outcomes(apply(mira, talk, one)) == [("stopped", "echo")]
    assert facts(mira) == []


def test_an_echo_is_no_evidence_beside_what_the_user_says(mira: Companion, had: Had) -> None:
    talk = had(mira, FIVE[0], "> Your favourite drink is tea.", given=[TEA])
    one = learnt(TEA, 1, FIVE[0])
    both = one.model_copy(update={"sources": [1, 2], "quotes": [FIVE[0], "Your favourite drink is tea."]})
    apply(mira, talk, both)
    (memory,) = facts(mira)
    assert [source.pk for source in memory.sources.all()] == [talk[1].message_id]
    assert memory.evidence == 1


def test_the_companion_saying_it_again_is_no_evidence(mira: Companion, had: Had) -> None:
    tea = keep(mira, had)
    talk = had(mira, "> Tea is your favourite drink.", at=DAY + timedelta(days=1))
    again = learnt(TEA, 1, "Tea is your favourite drink.", verdict="reinforce", of=1)
    assert outcomes(apply(mira, talk, again, known=[tea])) == [("stopped", "not_theirs")]
    assert facts(mira)[0].evidence == 1


def test_the_companions_own_promise_is_kept(mira: Companion, had: Had) -> None:
    said = "I promise to wake you at six on Friday."
    talk = had(mira, "> " + said, given=[TEA])
    apply(mira, talk, learnt("I promised Alice to wake her at six on Friday.", 1, said, kind="promise"))
    (memory,) = facts(mira)
    assert (memory.kind, memory.sources.get().role) == ("promise", "assistant")


CUPS = "Alice drinks five cups of coffee a day."
STOPPED = "I haven't touched coffee in a month."


def test_what_is_contradicted_is_closed_whatever_its_words(mira: Companion, had: Had) -> None:
    cups = keep(mira, had, CUPS, "I drink five cups of coffee a day.")
    talk = had(mira, STOPPED, at=DAY + timedelta(days=3))
    new = learnt("Alice has stopped drinking coffee.", 1, STOPPED)
    for reason in ("added", "already"):
        learning = apply(mira, talk, new, contradicted={0: [cups]})
        assert learning.verdicts[0]["outcome"] == reason
    old, stopped = facts(mira)
    assert (old.closed_at, old.replaced_by) == (talk[1].said_at, stopped)
    assert outcomes(apply(mira, talk, new, contradicted={0: [cups]})) == [("already", "")]


@pytest.mark.parametrize(
    ("known", "text", "outcome", "reason"),
    [
        ("Alice works as a nurse.", "Alice is a nurse by trade.", "reinforced", ""),
        ("Alice has a cat.", "Alice has a cat called Pixel.", "revised", ""),
        ("Alice has a cat called Pixel.", "Alice has a cat.", "reinforced", ""),
        ("Alice has a meeting on 8 May.", "Alice's meeting is on 8 May at 10.", "revised", ""),
        ("Alice pays 900 euros of rent.", "Alice pays 950 euros of rent.", "added", "another_telling"),
        ("Alice saw the sea with Rui.", "Alice saw the sea with Ana.", "added", "another_telling"),
        ("Alice likes tea.", "Alice paints boats.", "added", "another_subject"),
    ],
)
def test_what_is_read_as_the_same_stands_once_with_all_that_is_named(
    mira: Companion, had: Had, known: str, text: str, outcome: str, reason: str
) -> None:
    before = keep(mira, had, known, known)
    talk = had(mira, text, at=DAY + timedelta(days=1))
    new = learnt(text, 1, text)
    assert outcomes(apply(mira, talk, new, repeated={0: [before]})) == [(outcome, reason)]
    left = {memory.text for memory in facts(mira) if not memory.closed_at}
    assert left == {"reinforced": {known}, "revised": {text}, "added": {known, text}}[outcome]


def test_what_is_pinned_stays_where_the_same_is_told_with_more(mira: Companion, had: Had) -> None:
    before = keep(mira, had, "Alice has a cat.", "I have a cat.")
    Memory.objects.filter(pk=before.pk).update(is_pinned=True)
    said = "I have a cat called Pixel."
    talk = had(mira, said, at=DAY + timedelta(days=1))
    new = learnt("Alice has a cat called Pixel.", 1, said)
    assert outcomes(apply(mira, talk, new, repeated={0: [before]})) == [("added", "another_telling")]
    assert not Memory.objects.get(pk=before.pk).closed_at


def test_what_the_user_told_is_contradicted_only_by_the_user(mira: Companion, had: Had) -> None:
    cups = keep(mira, had, CUPS, "I drink five cups of coffee a day.")
    said = "I promise to hide your coffee."
    talk = had(mira, f"> {said}", at=DAY + timedelta(days=3))
    new = learnt("I promised to hide Alice's coffee.", 1, said, kind="promise")
    assert outcomes(apply(mira, talk, new, contradicted={0: [cups]})) == [("added", "")]
    assert facts(mira)[0].closed_at is None


def test_pairs_are_found_for_what_is_near_and_nothing_is_asked_where_nothing_is(
    mira: Companion, had: Had
) -> None:
    cups = keep(mira, had, CUPS, "I drink five cups of coffee a day.")
    keep(mira, had, "Alice's sister is called Ida.", "My sister is called Ida.")
    talk = had(mira, STOPPED, "I painted the fence.", at=DAY + timedelta(days=3))
    entries = [
        learnt("Alice has stopped drinking coffee.", 1, STOPPED),
        learnt("Alice painted the fence.", 2, "I painted the fence."),
    ]
    found = find_pairs(mira.pk, entries, talk, [], now=NOW, zone=UTC, names=NAMES)
    assert [(pair.place, pair.memory.pk) for pair in found] == [(0, cups.pk)]
    [pair] = found
    assert pair.drafted.said == ["Alice has stopped drinking coffee."]
    for word, contradicted in (("over", found), ("taken_back", found), ("yes", []), ("", [])):
        assert find_contradicted(found, {pair.drafted.key: word}) == contradicted


def test_a_goal_of_the_users_is_no_pursuit_of_the_companions(mira: Companion, had: Had) -> None:
    marathon = keep(mira, had, "Alice wants to run a marathon.", "I want to run a marathon.", kind="goal")
    assert (marathon.kind, Pursuit.objects.count()) == ("goal", 0)
    said = "I want to see Paris."
    stolen = learnt("I want to see Paris.", 1, said, kind="goal")
    assert outcomes(apply(mira, had(mira, said, at=DAY + timedelta(days=1)), stolen)) == [
        ("stopped", "not_own")
    ]


@pytest.mark.parametrize("kind", ["goal", "idea"])
def test_what_is_pursued_stands_on_the_list_and_keeps_its_progress(
    mira: Companion, had: Had, kind: str
) -> None:
    marathon = keep(
        mira, had, "I want to run a marathon.", "I want to run a marathon.", by="> ", kind=kind, importance=8
    )
    assert (marathon.pursuit.status, marathon.pursuit.excitement, marathon.pursuit.origin) == (
        "new",
        8,
        "talk",
    )
    Pursuit.objects.filter(memory=marathon).update(progress=40, status="under_way")
    said = "I want to run only half a marathon."
    talk = had(mira, f"> {said}", at=DAY + timedelta(days=1))
    new = learnt("I want to run half a marathon.", 1, said, verdict="revise", of=1, kind=kind)
    apply(mira, talk, new, known=[marathon])
    half = facts(mira)[-1]
    assert (half.pursuit.progress, half.pursuit.status) == (40, "under_way")


@pytest.mark.parametrize(
    ("on", "hour"),
    [(date(2023, 4, 1), 12), (date(2023, 5, 2), 11), (date(2033, 1, 1), 11), (date(1, 1, 1), 11)],
)
def test_it_happened_on_the_day_that_is_named_unless_that_cannot_be(
    mira: Companion, had: Had, on: date, hour: int
) -> None:
    zone = ZoneInfo("Europe/Berlin")
    talk = had(mira, FIVE[0])
    apply(mira, talk, learnt(TEA, 1, FIVE[0], happened_on=on), zone=zone)
    happened_at = facts(mira)[0].happened_at.astimezone(zone)
    assert happened_at.hour == hour
    assert happened_at.date() == (on if hour == 12 else date(2023, 5, 2))


@pytest.mark.parametrize(
    ("said", "text", "on", "kept"),
    [
        ("My gran died yesterday.", "Alice's gran died yesterday.", date(2023, 5, 1), " (2023-05-01)."),
        ("My exam is tomorrow.", "Alice's exam is tomorrow", date(2023, 5, 3), " (2023-05-03)"),
        ("My exam is tomorrow.", "Alice's exam is tomorrow.", date(2023, 5, 4), "."),
        ("My exam is tomorrow.", "Alice's exam is tomorrow.", None, "."),
        ("My exam is tomorrow.", "Alice's exam is on 3 May 2023.", date(2023, 5, 3), "."),
        ("我奶奶昨天去世了。", "Alice的奶奶昨天去世了。", date(2023, 5, 1), "（2023-05-01）。"),
    ],
)
def test_a_day_that_is_told_by_the_day_of_the_talk_is_written_out(
    mira: Companion, had: Had, said: str, text: str, on: date | None, kept: str
) -> None:
    talk, entry = had(mira, said), learnt(text, 1, said, happened_on=on, kind="event")
    apply(mira, talk, entry)
    assert [fact.text for fact in facts(mira)] == [text.rstrip(".。") + kept]
    assert not apply(mira, talk, entry).pk  # and the same batch changes nothing


def test_what_is_private_is_not_learnt_again(mira: Companion, had: Had) -> None:
    tea = keep(mira, had)
    Memory.objects.of(mira.pk).filter(pk=tea.pk).update(is_private=True)
    talk = had(mira, FIVE[1], at=DAY + timedelta(days=1))
    assert outcomes(apply(mira, talk, learnt(TEA.lower(), 1, FIVE[1]))) == [("stopped", "private")]
    assert len(facts(mira)) == 1


def test_the_same_batch_applied_twice_changes_nothing(mira: Companion, had: Had) -> None:
    bonn = keep(mira, had, "Alice lives in Bonn.", "I live in Bonn.")
    tea = keep(mira, had)
    said = [FIVE[1], "I moved from Bonn to Berlin.", "I run every day.", "I do not eat meat."]
    talk = had(mira, *said, at=DAY + timedelta(days=2))
    batch = [
        learnt(TEA, 1, said[0], verdict="reinforce", of=2),
        learnt("Alice lives in Berlin, no longer in Bonn.", 2, said[1], verdict="revise", of=1),
        learnt("Alice runs every day.", 3, said[2]),
        learnt("Alice runs daily.", 3, said[2], verdict="reinforce", of=2),
        learnt("Alice has the PIN 4711.", 4, said[3]),
    ]

    def rows() -> list[tuple[object, ...]]:
        every = Memory.objects.of(mira.pk).order_by("pk")
        return [
            (one.pk, one.evidence, one.confidence, one.closed_at, len(one.quotes), one.sources.count())
            for one in every
        ]

    apply(mira, talk, *batch, known=[bonn, tea])
    before, count = rows(), Learning.objects.filter(companion=mira).count()
    assert not apply(mira, talk, *batch, known=[bonn, tea], now=NOW + timedelta(days=1)).pk
    assert (rows(), Learning.objects.filter(companion=mira).count()) == (before, count)


def test_learning_of_a_batch_that_tells_nothing_is_written_down(mira: Companion, had: Had) -> None:
    learning = apply(mira, had(mira, "Hello!"))
    assert learning.pk
    assert learning.verdicts == []
    assert learning.session_id is None

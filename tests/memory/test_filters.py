"""Recall and lists among some memories only, and page by page."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from companions.models import Companion
from memory.embedding import embed_cue, embed_waiting
from memory.models import Memory, Recall
from memory.recall.candidates import MemoryFilter
from memory.recall.recall import Found, recall, record
from memory.store import keep_fact
from tests.memory.conftest import DAY, Say

pytestmark = pytest.mark.usefixtures("module_mira")
NOW = DAY + timedelta(days=8)


def ask(companion: Companion, cue: str, limit: int = 10, **options: Any) -> list[Found]:
    return recall(companion.pk, cue, limit, **{"now": NOW, "zone": UTC, **options})


def texts(found: list[Found]) -> list[str]:
    return [one.memory.text for one in found]


@pytest.fixture
def tea(mira: Companion, say: Say) -> list[Memory]:
    """Tea, said by both on two days, and kept as a fact."""
    said = say(mira, "Green tea?", "Black tea!")
    said += say(mira, "Mint tea.", role="assistant", at=DAY + timedelta(days=1))
    fact = keep_fact(mira.pk, "Tea at four.", DAY + timedelta(days=2), DAY, source_ids=[said[0].message_id])
    return [*said, fact]


@pytest.mark.parametrize(
    ("filters", "places"),
    [
        ({"kinds": ["fact"]}, [3]),
        ({"kinds": ["said"]}, [0, 1, 2]),
        ({"kinds": ["said", "fact"]}, [0, 1, 2, 3]),
        ({"speaker": "user"}, [0, 1]),
        ({"speaker": "companion"}, [2]),
        ({"since": DAY + timedelta(minutes=1)}, [1, 2, 3]),
        ({"until": DAY + timedelta(minutes=1)}, [0]),
        ({"since": DAY + timedelta(minutes=1), "until": DAY + timedelta(days=2)}, [1, 2]),
        ({"since": DAY, "until": DAY}, []),
        ({"as_of": DAY + timedelta(days=1)}, [0, 1, 2]),
        ({"as_of": DAY + timedelta(days=1), "speaker": "user", "since": DAY + timedelta(seconds=1)}, [1]),
        ({"is_pinned": True}, []),
        ({"kinds": ["fact"], "speaker": "user"}, []),
    ],
    ids=str,
)
def test_recall_and_lists_give_only_what_is_wanted(
    mira: Companion, tea: list[Memory], filters: dict[str, Any], places: list[int]
) -> None:
    wanted = {tea[place] for place in places}
    assert {one.memory for one in ask(mira, "tea", filters=MemoryFilter(**filters))} == wanted
    assert set(MemoryFilter(**filters).apply(Memory.objects.of(mira.pk))) == wanted


def test_what_comes_from_a_message_is_what_mirrors_it_and_what_was_drawn_from_it(
    mira: Companion, tea: list[Memory]
) -> None:
    filters = MemoryFilter(sources=[tea[0].message_id])
    assert {one.memory for one in ask(mira, "tea", filters=filters)} == {tea[0], tea[3]}
    assert set(filters.apply(Memory.objects.of(mira.pk))) == {tea[0], tea[3]}


def test_a_filter_does_not_cut_the_talk_apart(mira: Companion, say: Say) -> None:
    """The answer shares no word with the cue: the question before it, which may not come back, tells what it is about."""
    say(mira, "Which painters do you recommend?")
    (answer,) = say(mira, "Monet and Turner.", role="assistant", at=DAY + timedelta(minutes=1))
    say(mira, "It rains.", role="assistant", at=DAY + timedelta(days=1))
    whole = ask(mira, "What painters did you recommend to me?")
    filters = MemoryFilter(speaker="companion")
    filtered = ask(mira, "What painters did you recommend to me?", filters=filters)
    assert filtered[0].memory == answer
    assert filtered == [one for one in whole if one.memory.speaker == "companion"]


def test_a_filter_finds_what_would_have_come_too_late(mira: Companion, say: Say) -> None:
    say(mira, *(f"Tea {'i' * number}." for number in range(130)))
    fact = keep_fact(
        mira.pk, "Once, on a long way home, there was no coffee at all but a little tea.", DAY, DAY
    )
    assert fact not in [one.memory for one in ask(mira, "tea", 100)]
    assert [one.memory for one in ask(mira, "tea", 1, filters=MemoryFilter(kinds=["fact"]))] == [fact]


def test_filters_take_no_query_more(mira: Companion, tea: list[Memory]) -> None:
    embed_waiting(mira.pk)
    vector = embed_cue("tea")
    ask(mira, "tea", vector=vector)
    counts = []
    for filters in (
        MemoryFilter(),
        MemoryFilter(kinds=["said"], speaker="user", since=DAY, sources=[tea[0].message_id]),
    ):
        with CaptureQueriesContext(connection) as queries:
            assert ask(mira, "tea", vector=vector, filters=filters)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 5


def test_pages_join_without_gap_or_repetition(mira: Companion, say: Say) -> None:
    say(mira, *(f"Tea number {number} {'i' * (number % 7)}." for number in range(130)))
    embed_waiting(mira.pk)
    vector = embed_cue("tea number 7")
    whole = ask(mira, "tea number 7", 100, vector=vector)
    pages = [ask(mira, "tea number 7", 30, vector=vector, offset=offset) for offset in (0, 30, 60, 90)]
    assert [len(page) for page in pages] == [30, 30, 30, 10]
    assert [one for page in pages for one in page] == whole
    assert ask(mira, "tea number 7", 10, vector=vector, offset=100) == []


def test_asked_as_of_a_moment_the_order_outlasts_it(mira: Companion, tea: list[Memory]) -> None:
    """A year later the pages are the same."""
    filters = MemoryFilter(as_of=NOW)
    first, second = ask(mira, "tea", 2, filters=filters), ask(mira, "tea", 2, filters=filters, offset=2)
    later = {"filters": filters, "now": NOW + timedelta(days=365)}
    assert ask(mira, "tea", 4, **later) == first + second


def test_a_later_page_is_recorded_with_its_ranks(mira: Companion, tea: list[Memory]) -> None:
    found = ask(mira, "tea", 2, offset=2)
    kept = record(mira.pk, Recall.By.API, "tea", found, NOW, 1, offset=2)
    assert list(kept.found.values_list("rank", flat=True)) == [3, 4]


@pytest.mark.parametrize("offset", [-1, 101, 1_000_000])
def test_so_many_cannot_be_skipped(mira: Companion, offset: int) -> None:
    with pytest.raises(ValueError, match=f"0 to 100 memories, not {offset}"):
        ask(mira, "tea", offset=offset)


@pytest.mark.parametrize(
    ("filters", "why"),
    [
        ({"since": NOW, "until": DAY}, "earlier"),
        ({"since": datetime(2023, 5, 2)}, "no zone"),  # noqa: DTZ001 (that is the mistake)
        ({"as_of": datetime(2023, 5, 2)}, "no zone"),  # noqa: DTZ001
        ({"kinds": ["gossip"]}, "no 'gossip'; there are said, fact"),
        ({"speaker": "assistant"}, "no 'assistant'; there are user, companion"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_filter_that_means_nothing_is_refused(filters: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        MemoryFilter(**filters)

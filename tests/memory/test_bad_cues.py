"""Cues that nobody would think of: each is only a cue, and finds what it names or nothing."""

from collections.abc import Iterator
from datetime import UTC, timedelta

import pytest
from django.db import transaction

from accounts.signup import create_account
from companions.models import Companion
from memory.embedding import embed_cue, embed_waiting
from memory.models import Memory
from memory.recall.query import parse_cue
from memory.recall.recall import Found, recall
from tests.fixtures.people import PASSWORD
from tests.fixtures.turns import make_companion
from tests.memory.conftest import DAY, Say

NOW = DAY + timedelta(days=8)
SAID = {
    "tea": "Tea with milk.",
    "thai": "ฉันชอบดื่มชาเขียวทุกเช้า",
    "chinese": "我昨天去了博物馆，看了青铜器展览。",
    "japanese": "昨日は図書館で本を三冊借りました。",
}


@pytest.fixture(scope="module", params=["by words", "by words and meaning"])
def told_once(request: pytest.FixtureRequest, module_rows: None, say: Say) -> Iterator[Companion]:
    """A companion that was told things in four scripts, embedded or not."""
    with transaction.atomic():
        companion = make_companion(create_account("nina@example.org", PASSWORD))
        for day, text in enumerate(SAID.values()):
            say(companion, text, at=DAY + timedelta(days=day))
        if "meaning" in request.param:
            embed_waiting(companion.pk)
        yield companion
        transaction.set_rollback(True)


@pytest.fixture
def told(db: None, told_once: Companion) -> Companion:
    return Companion.objects.get(pk=told_once.pk)


def ask(companion: Companion, cue: str, limit: int = 10) -> list[Found]:
    vector = embed_cue(cue) if companion.memories.exclude(embeddings=None).exists() else None
    return recall(companion.pk, cue, limit, now=NOW, zone=UTC, vector=vector)


@pytest.mark.parametrize(
    ("cue", "found"),
    [
        ("คุณจำได้ไหมว่าฉันชอบดื่มชาอะไร", "thai"),
        ("ชาเขียว", "thai"),
        ("你还记得我在博物馆看了什么吗", "chinese"),
        ("青铜器", "chinese"),
        ("図書館で何を借りましたか", "japanese"),
        ("🍵🍵 tea 🍵", "tea"),
        ("tea' OR '1'='1'; DROP TABLE memory_memory; --", "tea"),
        ("tea & !milk | (foo <-> bar):*", "tea"),
        ("tea:A & 'milk' <2> \\", "tea"),
        ("%tea% _milk_ %(cue)s {cue} $1 ?", "tea"),
        ("tea " * 25_000, "tea"),
        ("the of and milk", "tea"),
    ],
    ids=lambda value: value[:24],
)
def test_the_best_is_what_the_cue_names(told: Companion, cue: str, found: str) -> None:
    assert ask(told, cue)[0].memory.text == SAID[found]
    assert Memory.objects.count() == len(SAID)


@pytest.mark.parametrize(
    "cue", ["", " \n", "the of and", "的了吗", "🎉🎉🎉", "' ; -- \\ %", "\x00\x00", "\u200b", "?!"]
)
def test_a_cue_that_says_nothing_brings_nothing_by_words(mira: Companion, say: Say, cue: str) -> None:
    say(mira, *SAID.values())
    assert recall(mira.pk, cue, 10, now=NOW, zone=UTC) == []


@pytest.mark.parametrize("cue", ["the of and", "🎉🎉🎉", "' ; -- \\ %", "?!", "的了吗", "x" * 100_000])
def test_with_a_meaning_it_still_is_only_a_cue(told: Companion, cue: str) -> None:
    found = ask(told, cue)
    assert {one.memory.text for one in found} <= set(SAID.values())
    assert all(one.score == one.score for one in found)  # no NaN


@pytest.mark.parametrize(
    "cue",
    [
        "What happened on 30 February?",
        "on February 30th, 2023",
        "2023-02-29",
        "2023-13-01",
        "31 April",
        "on 31/31",
        "the 99th of May",
        "13月5日",
    ],
)
def test_a_day_that_does_not_exist_names_no_day(told: Companion, cue: str) -> None:
    """What comes back shares a word or a meaning with it, and gains nothing for its date."""
    assert parse_cue(cue, NOW, {}).days == []
    assert all("dates" not in one.reasons["parts"] for one in ask(told, cue))


def test_of_a_day_beyond_its_month_the_month_is_left(told: Companion) -> None:
    assert [one.memory.text for one in ask(told, "5月32日")]
    assert len(parse_cue("5月32日", NOW, {}).days) == 1


@pytest.mark.parametrize("limit", [-1, 101, 1_000_000])
def test_a_limit_out_of_range_is_refused_even_where_nothing_is_known(mira: Companion, limit: int) -> None:
    with pytest.raises(ValueError, match="0 to 100"):
        ask(mira, "", limit)


def test_none_wanted_none_found(told: Companion) -> None:
    assert ask(told, "tea", 0) == []

"""Looking memories up without a cue: by who said them, what they hold, what they come from, and the newest."""

from datetime import timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import ModelCall
from companions.models import Companion
from memory.models import Memory
from memory.models.memory import MemoryQuerySet
from memory.store import keep_fact
from tests.memory.conftest import DAY, Say

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]


@pytest.fixture
def mine(mira: Companion, tian: Companion, say: Say) -> MemoryQuerySet:
    """Two things said and one answered; another companion was told the same."""
    for companion in (mira, tian):
        say(companion, "Tea at four.", "100 % wool.")
        say(companion, "Tea it is.", role="assistant", at=DAY + timedelta(hours=1))
    return Memory.objects.of(mira.pk)


def texts(memories: MemoryQuerySet) -> list[str]:
    return [one.text for one in memories]


def test_by_who_said_it(mine: MemoryQuerySet) -> None:
    assert texts(mine.by_speaker("companion")) == texts(mine.by_role("assistant")) == ["Tea it is."]
    assert texts(mine.by_speaker("user")) == texts(mine.by_role("user")) == ["100 % wool.", "Tea at four."]
    assert texts(mine.by_role("system")) == []


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ("tea", ["Tea it is.", "Tea at four."]),
        ("%", ["100 % wool."]),
        ("_", []),
        ("\\", []),
        ("wo\x00ol", ["100 % wool."]),
    ],
)
def test_by_what_it_holds(mine: MemoryQuerySet, part: str, found: list[str]) -> None:
    assert texts(mine.by_content(part)) == found


def test_by_what_it_comes_from(mira: Companion, mine: MemoryQuerySet) -> None:
    call = ModelCall.objects.create(user=mira.user, companion=mira, purpose="answer", started_at=DAY)
    said = mine.by_content("four").get()
    fact = keep_fact(mira.pk, "Tea is at four.", DAY, DAY, source_ids=[said.message_id])
    mine.filter(pk=fact.pk).update(call=call)
    assert set(mine.by_cause(message=said.message_id)) == {said, fact}
    assert list(mine.by_cause(call=call.pk)) == [fact]
    assert list(mine.by_cause(message=said.message_id, call=call.pk)) == [fact]
    assert list(mine.by_cause(message=mine.by_content("wool").get().message_id, call=call.pk)) == []


def test_by_no_cause_is_a_mistake(mine: MemoryQuerySet) -> None:
    with pytest.raises(ValueError, match="a message or a call"):
        mine.by_cause()


def test_the_newest_and_how_many(
    mine: MemoryQuerySet, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(2):  # these, and their number
        assert texts(mine.newest(2)) == ["Tea it is.", "100 % wool."]
        assert mine.count() == 3
    assert texts(mine.newest(0)) == []
    assert len(mine.newest(1_000_000)) == 3
    with pytest.raises(ValueError, match="Negative"):
        mine.newest(-1)


def test_they_read_as_a_sentence(mine: MemoryQuerySet) -> None:
    assert texts(mine.open().by_speaker("user").by_content("a").newest(1)) == ["Tea at four."]

"""Slots and blocks: what may stand in them, who may write, and from which messages it comes."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from companions.models import Companion, Message
from memory.core_memory import (
    append_to_block,
    delete_block,
    delete_slot,
    find_slot,
    replace_in_block,
    set_slot,
    write_block,
)
from memory.errors import CoreMemoryError
from memory.models import Block, Slot
from memory.models.core_memory import By
from tests.memory.conftest import Say

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]
NOW = timezone.now()
BAD_NAMES = [
    "",
    " \t",
    "a\nb",
    "a\x00b",
    "a\x1bb",
    "a\u2028b",
    "a\u202eb",
    "a\ud800",
    "a/b",
    "a\\b",
    "..",
    "n" * 61,
]


def refused(code: str) -> pytest.RaisesExc[CoreMemoryError]:
    return pytest.RaisesExc(CoreMemoryError, check=lambda error: error.code == code)


def slot(companion: Companion, name: str = "tea", text: str = "green", by: By = By.USER) -> Slot:
    return set_slot(companion.pk, name, text, by=by, now=NOW)


def test_a_slot_is_set_changed_and_deleted(mira: Companion) -> None:
    slot(mira, " tea ")
    changed = set_slot(mira.pk, "tea", "black", by=By.COMPANION, now=NOW + timedelta(hours=1))
    kept = Slot.objects.get(companion=mira)
    assert (kept.pk, kept.text, kept.by, kept.changed_at) == (
        changed.pk,
        "black",
        "companion",
        changed.changed_at,
    )
    delete_slot(mira.pk, "tea", by=By.USER)
    assert not Slot.objects.exists()


def test_there_is_no_slot_101_but_the_100_can_be_changed(mira: Companion) -> None:
    for n in range(100):
        slot(mira, f"slot {n}")
    with refused("slots_full"):
        slot(mira, "one more")
    assert Slot.objects.count() == 100
    assert slot(mira, "slot 7", "red").text == "red"


def test_another_companions_slots_count_for_itself(mira: Companion, tian: Companion) -> None:
    Slot.objects.bulk_create(
        Slot(companion=mira, name=str(n), text="x", by="user", changed_at=NOW) for n in range(100)
    )
    assert slot(tian).companion_id == tian.pk
    with refused("no_such_slot"):
        find_slot(tian.pk, "7")


@pytest.mark.parametrize(
    ("text", "code"), [("x" * 201, "text_too_long"), (" \n", "empty_text"), ("a\x00", "bad_text")]
)
def test_a_slot_takes_no_text_that_is_none(mira: Companion, text: str, code: str) -> None:
    with refused(code):
        slot(mira, text=text)
    assert not Slot.objects.exists()


def test_200_characters_of_any_script_fit(mira: Companion) -> None:
    assert slot(mira, text="茶" * 200).text == "茶" * 200


@pytest.mark.parametrize("name", BAD_NAMES, ids=ascii)
def test_a_name_that_no_address_can_hold_is_refused(mira: Companion, name: str) -> None:
    for write in (slot, lambda companion, name: write_block(companion.pk, name, "x", by=By.USER, now=NOW)):
        with pytest.raises(CoreMemoryError):
            write(mira, name)
    assert not Slot.objects.exists()
    assert not Block.objects.exists()


def test_a_name_written_in_two_ways_is_one(mira: Companion) -> None:
    slot(mira, "cafe\u0301")
    slot(mira, "caf\u00e9", "black")
    assert [one.text for one in Slot.objects.all()] == ["black"]


def block(companion: Companion, text: str = "", **more: object) -> Block:
    return write_block(companion.pk, "plans", text, by=By.USER, now=NOW, **more)  # type: ignore[arg-type]


def append(companion: Companion, text: str, by: By = By.COMPANION, name: str = "plans") -> Block:
    return append_to_block(companion.pk, name, text, by=by, now=NOW)


def replace(companion: Companion, old: str, new: str) -> Block:
    return replace_in_block(companion.pk, "plans", old, new, by=By.COMPANION, now=NOW)


def test_a_block_grows_line_by_line_until_it_is_full(mira: Companion) -> None:
    block(mira, most_characters=12)
    append(mira, "swim")
    assert append(mira, "read").text == "swim\nread"
    with refused("text_too_long"):
        append(mira, "walk")
    kept = Block.objects.get()
    assert (kept.text, kept.by) == ("swim\nread", "companion")


def test_what_is_replaced_stands_there_exactly_once(mira: Companion) -> None:
    block(mira, "swim, swim, read")
    for old in ("walk", "swim", ""):
        with refused("no_single_match"):
            replace(mira, old, "x")
    assert replace(mira, ", read", "").text == "swim, swim"


def test_parts_that_overlap_are_two(mira: Companion) -> None:
    block(mira, "aaa")
    with refused("no_single_match"):
        replace(mira, "aa", "b")


def test_the_companion_writes_on_no_read_only_block_but_its_user_does(mira: Companion) -> None:
    block(mira, "Be kind.", is_read_only=True)
    for write in (lambda: append(mira, "x"), lambda: replace(mira, "kind", "rude")):
        with refused("block_read_only"):
            write()
    with refused("block_read_only"):
        write_block(mira.pk, "plans", "x", by=By.COMPANION, now=NOW, is_read_only=False)
    assert append(mira, "Be brief.", By.USER).text == "Be kind.\nBe brief."


def test_an_unknown_block_is_an_error_that_names_those_there_are(mira: Companion) -> None:
    block(mira)
    with pytest.raises(CoreMemoryError, match="no_such_block") as error:
        append(mira, "x", name="plan")
    assert "plans" in str(error.value.detail)


def test_there_is_no_block_21_and_none_without_bounds(mira: Companion) -> None:
    for n in range(20):
        write_block(mira.pk, f"block {n}", "", by=By.USER, now=NOW)
    with refused("blocks_full"):
        block(mira)
    for most in (0, -1, 4001):
        with refused("bad_size"):
            write_block(mira.pk, "block 1", "", by=By.USER, now=NOW, most_characters=most)
    delete_block(mira.pk, "block 1", by=By.USER)
    assert block(mira).text == ""


def test_what_is_not_told_stays_as_it_was(mira: Companion) -> None:
    block(mira, description="what is planned", most_characters=50, is_read_only=True)
    kept = block(mira, "swim")
    assert (kept.description, kept.most_characters, kept.is_read_only) == ("what is planned", 50, True)


def sources(row: Slot | Block) -> set[UUID]:
    return set(row.sources.values_list("pk", flat=True))


def test_a_text_keeps_its_sources_while_a_word_of_it_stands(mira: Companion, say: Say) -> None:
    one, two, three = (message.message_id for message in say(mira, "I like tea", "And cake", "No, coffee"))
    assert one
    assert two
    assert three
    first = set_slot(mira.pk, "likes", "tea", by=By.COMPANION, now=NOW, source_ids=[one])
    set_slot(mira.pk, "likes", "tea and cake", by=By.COMPANION, now=NOW, source_ids=[two])
    assert sources(first) == {one, two}
    set_slot(mira.pk, "likes", "coffee", by=By.COMPANION, now=NOW, source_ids=[three])
    assert sources(first) == {three}
    Message.objects.filter(pk=three).delete()
    assert sources(first) == set()


def test_what_a_block_was_given_stays_known(mira: Companion, say: Say) -> None:
    block(mira, "Plans:")
    one, two = (message.message_id for message in say(mira, "swim", "read"))
    assert one
    assert two
    for text, id in (("swim", one), ("read", two)):
        append_to_block(mira.pk, "plans", text, by=By.COMPANION, now=NOW, source_ids=[id])
    assert sources(Block.objects.get()) == {one, two}

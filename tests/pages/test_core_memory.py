"""What is always in mind, as its person sees, adds, changes and deletes it."""

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from companions.models import Companion, Session
from memory.core_memory import set_slot, write_block
from memory.models import Block, Slot
from memory.models.core_memory import By
from tests.pages.conftest import Told

pytestmark = pytest.mark.usefixtures("module_mira")
HTMX = {"HX-Request": "true"}
NOW = timezone.now()


@pytest.fixture
def path(mira: Companion) -> str:
    return f"/companions/{mira.pk}/always/"


def test_slots_blocks_and_notes_are_shown_with_how_full_they_are(
    at_home: Client, mira: Companion, path: str
) -> None:
    set_slot(mira.pk, "tea", "green <b>", by=By.COMPANION, now=NOW)
    write_block(mira.pk, "plans", "swim", by=By.USER, now=NOW, most_characters=50, is_read_only=True)
    Session.objects.filter(companion=mira, ended_at=None).update(scratch="She seems tired.")
    page = at_home.get(path).content.decode()
    for text in (
        "green &lt;b&gt;",
        "written by Mira",
        "9 of 200",
        "1 of 100",
        "swim",
        "4 of 50",
        "read-only",
    ):
        assert text in page
    advanced = at_home.get(f"/companions/{mira.pk}/settings/advanced/").content.decode()
    assert "She seems tired." in advanced
    assert "16 of 4000" in advanced


def test_with_nothing_yet_the_page_says_how_it_comes(at_home: Client, path: str) -> None:
    page = at_home.get(path).content.decode()
    for text in ("keep something always in mind", "Start one for plans"):
        assert text in page


def test_a_slot_is_added_changed_and_deleted(at_home: Client, path: str) -> None:
    assert at_home.post(f"{path}slots/add/", {"slot-name": "tea", "slot-text": "green"}).status_code == 302
    slot = Slot.objects.get()
    assert (slot.name, slot.text, slot.by) == ("tea", "green", "user")
    assert "<form" in at_home.get(f"{path}slots/{slot.pk}/?edit", headers=HTMX).content.decode()
    row = at_home.post(f"{path}slots/{slot.pk}/", {"text": "black"}, headers=HTMX).content.decode()
    assert "black" in row
    assert "<form" not in row
    assert at_home.post(f"{path}slots/{slot.pk}/", {"text": "red"}).status_code == 302  # without htmx
    assert "Delete “tea”?" in at_home.get(f"{path}slots/{slot.pk}/delete/", headers=HTMX).content.decode()
    assert "has been deleted" in at_home.post(f"{path}slots/{slot.pk}/delete/", follow=True).content.decode()
    assert not Slot.objects.exists()


def test_a_block_is_added_changed_and_deleted(at_home: Client, path: str) -> None:
    given = {
        "block-name": "plans",
        "block-text": "swim",
        "block-most_characters": "50",
        "block-is_read_only": "on",
    }
    assert at_home.post(f"{path}blocks/add/", given).status_code == 302
    block = Block.objects.get()
    assert (block.text, block.most_characters, block.is_read_only) == ("swim", 50, True)
    sent = {"text": "", "most_characters": "40", "description": "for summer"}
    assert "for summer" in at_home.post(f"{path}blocks/{block.pk}/", sent, headers=HTMX).content.decode()
    block.refresh_from_db()
    assert (block.text, block.most_characters, block.is_read_only) == ("", 40, False)
    at_home.post(f"{path}blocks/{block.pk}/delete/")
    assert not Block.objects.exists()


@pytest.mark.parametrize(
    ("name", "text"),
    [("", "x"), ("a/b", "x"), ("a\x1bb", "x"), ("n" * 61, "x"), ("tea", ""), ("tea", "x" * 201)],
)
def test_a_slot_that_cannot_be_comes_back_with_why(at_home: Client, path: str, name: str, text: str) -> None:
    response = at_home.post(f"{path}slots/add/", {"slot-name": name, "slot-text": text})
    assert response.status_code == 422
    assert response.context["slot_form"].errors
    assert not Slot.objects.exists()


def test_the_101st_slot_is_told_on_the_page(at_home: Client, mira: Companion, path: str) -> None:
    Slot.objects.bulk_create(
        Slot(companion=mira, name=str(n), text="x", by="user", changed_at=NOW) for n in range(100)
    )
    response = at_home.post(f"{path}slots/add/", {"slot-name": "tea", "slot-text": "x"})
    assert response.status_code == 422
    assert "There are already 100 slots" in response.content.decode()


def test_a_change_that_cannot_be_keeps_the_form_open(at_home: Client, told: Told) -> None:
    for headers in (HTMX, {}):
        where = f"{told.path}always/blocks/{told.block.pk}/"
        response = at_home.post(where, {"text": "x" * 51, "most_characters": "50"}, headers=headers)
        assert response.status_code == 422
        assert "there is room for 50" in response.content.decode()
    told.block.refresh_from_db()
    assert told.block.text == "Learn."


def test_the_page_costs_the_same_for_few_and_for_many(
    at_home: Client, mira: Companion, path: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(30):
        set_slot(mira.pk, f"slot {n}", "x", by=By.USER, now=NOW)
    with django_assert_num_queries(5):  # session, user, companion, slots, blocks
        at_home.get(path)

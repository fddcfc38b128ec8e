"""Making, changing and deleting companions."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from companions.models import Companion, Message
from tests.fixtures.turns import make_companion
from tests.pages.conftest import Told, answered


def fields(**changed: str) -> dict[str, str]:
    return {"name": "Wren", "persona": "Quiet.", "greeting": "Hello.", "tint": "220"} | changed


def test_a_companion_is_made_with_its_greeting(at_home: Client, alice: User) -> None:
    response = at_home.post("/companions/new/own/", fields())
    companion = Companion.objects.owned_by(alice).get()
    assert response["Location"] == f"/companions/{companion.pk}/"
    assert (companion.name, companion.persona, companion.tint) == ("Wren", "Quiet.", 220)
    assert "Hello." in at_home.get(response["Location"]).content.decode()


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "   "}, "name"),
        ({"name": "W" * 81}, "name"),
        ({"name": "W\x00ren"}, "name"),
        ({"persona": "p" * 40_001}, "persona"),
        ({"greeting": "g" * 12_001}, "greeting"),
        ({"greeting": "\x00"}, "greeting"),
        ({"tint": "41"}, "tint"),
        ({"tint": "x"}, "tint"),
    ],
)
def test_what_does_not_fit_gets_the_form_back(at_home: Client, wrong: dict[str, str], field: str) -> None:
    response = at_home.post("/companions/new/own/", fields(**wrong))
    assert response.status_code == 422
    assert list(response.context["form"].errors) == [field]
    assert not Companion.objects.exists()


def test_more_companions_than_may_be_are_not_made(at_home: Client, mira: Companion, settings: Any) -> None:
    settings.COMPANIONS_EACH = 1
    response = at_home.post("/companions/new/own/", fields())
    assert response.status_code == 422
    assert "Delete one first" in response.content.decode()
    assert Companion.objects.get() == mira


def test_a_companion_is_changed(at_home: Client, mira: Companion) -> None:
    assert at_home.post(f"/companions/{mira.pk}/about/", fields(name="Mirabel")).status_code == 302
    mira.refresh_from_db()
    assert mira.name == "Mirabel"
    response = at_home.post(f"/companions/{mira.pk}/about/", fields(name=""))
    assert response.status_code == 422
    assert "Mirabel" in response.content.decode()


def test_a_companion_is_deleted_by_its_typed_name(at_home: Client, told: Told) -> None:
    path = f"{told.path}settings/delete/"
    assert at_home.post(path, {"typed_name": "mira"}).status_code == 422
    assert Companion.objects.filter(pk=told.companion.pk).exists()
    assert at_home.post(path, {"typed_name": "Mira"})["Location"] == "/companions/"
    assert not Companion.objects.exists()
    assert not Message.objects.exists()


def test_rehearsed_answers_go_in_one_action(at_home: Client, told: Told, settings: object) -> None:
    told.companion.messages.filter(pk=told.answer.pk).update(is_rehearsed=True)
    page = at_home.get(f"{told.path}settings/").content.decode()
    assert "1 answer here was written by the rehearsal model" in page
    at_home.post(f"{told.path}settings/rehearsals/")
    assert list(told.companion.messages.all()) == [told.message]
    assert "rehearsal model" not in at_home.get(f"{told.path}settings/").content.decode()


def test_the_one_last_spoken_with_comes_first(at_home: Client, alice: User) -> None:
    first, second = make_companion(alice, name="First"), make_companion(alice, name="Second")
    answered(first, "hello", "hello")
    page = at_home.get("/companions/")
    assert page.content.decode().count('loading="lazy"') == 2  # a long list does not draw all faces at once
    people = page.context["people"]
    assert [companion for companion, _unread in people] == [first, second]


def test_the_list_costs_the_same_for_one_and_for_many(
    at_home: Client, alice: User, django_assert_num_queries: object
) -> None:
    for number in range(5):
        answered(make_companion(alice, name=f"C{number}"), "hello", "hello")
    # session, user, companions with their last words, how many are unread
    with django_assert_num_queries(4):  # type: ignore[operator]
        assert at_home.get("/companions/").status_code == 200


def test_the_list_beside_a_talk_is_a_part_that_marks_whose_it_is(at_home: Client, alice: User) -> None:
    first, second = make_companion(alice, name="First"), make_companion(alice, name="Second")
    part = at_home.get(f"/companions/?open={second.pk}", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part  # a script takes a whole page for the end of the session
    assert part.count("aria-current") == 1
    assert f'href="/companions/{second.pk}/" aria-current="true"' in part
    assert f'hx-get="/companions/?open={second.pk}"' in part
    assert f"/companions/{first.pk}/" in part


def test_whoever_is_signed_in_is_welcomed_at_home(at_home: Client) -> None:
    assert at_home.get("/")["Location"] == "/companions/"


@pytest.mark.parametrize("hue", [0, 25, 26, 41, 359])
def test_any_hue_has_a_tint(at_home: Client, alice: User, hue: int) -> None:
    companion = make_companion(alice, tint=hue)
    page = at_home.get(f"/companions/{companion.pk}/").content.decode()
    preset = {0: 10, 25: 10, 26: 40, 41: 40, 359: 10}[hue]
    assert f'class="tinted tint-{preset}"' in page


def test_how_long_a_silence_ends_a_session_is_set(at_home: Client, mira: Companion) -> None:
    path = f"/companions/{mira.pk}/settings/"
    assert "From 1 to 720." in at_home.get(path).content.decode()
    for hours in ("1", "720"):
        assert at_home.post(path, {"idle_hours": hours}).status_code == 302
        mira.refresh_from_db()
        assert mira.idle_hours == int(hours)
    for wrong in ("0", "721", "-1", "1.5", "x", "99999999999", ""):
        response = at_home.post(path, {"idle_hours": wrong})
        assert response.status_code == 422
        assert list(response.context["form"].errors) == ["idle_hours"]
    mira.refresh_from_db()
    assert mira.idle_hours == 720

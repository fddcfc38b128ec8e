"""The face that a companion has: from its id, chosen in the editor, through the API."""

import re
from dataclasses import asdict
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from companions.face.drawing import render_portrait
from companions.face.portraits import TABLES, choose_features, draw_features, get_features
from companions.life import inner_state
from companions.life.inner_state import Feeling
from companions.models import Companion, InnerState, Portrait, Reply
from memory.emotion import Emotion
from tests.companions.face.paintings import SCRIPTED, painted
from tests.fixtures.rest import Api, problem
from tests.fixtures.turns import make_companion
from tests.pages.conftest import answered


@pytest.fixture
def at_home(alice: User, client: Client) -> Client:
    client.force_login(alice)
    return client


def fresh(companion: Companion) -> Companion:
    return Companion.objects.select_related("portrait").get(pk=companion.pk)


def test_each_has_a_face_of_its_own_from_the_beginning(alice: User) -> None:
    faces = {get_features(make_companion(alice, name=f"C{number}")) for number in range(20)}
    assert len(faces) == 20
    assert not Portrait.objects.exists()


def test_only_what_differs_from_the_seed_is_kept(mira: Companion) -> None:
    drawn = draw_features(2)
    choose_features(mira, 2, asdict(drawn) | {"hair": "bob"})
    assert Portrait.objects.get().chosen == {"hair": "bob"}
    assert get_features(fresh(mira)) == drawn.with_choices({"hair": "bob"})


def test_a_face_is_chosen_on_its_page(at_home: Client, mira: Companion) -> None:
    path = f"/companions/{mira.pk}/face/"
    sent = {"seed": "5", **asdict(draw_features(5).with_choices({"glasses": "round", "skin": "umber"}))}
    assert at_home.post(path, sent).status_code == 302
    assert get_features(fresh(mira)) == draw_features(5).with_choices({"glasses": "round", "skin": "umber"})
    wrong: Any = ({"hair": "horns"}, {"seed": "-1"}, {"seed": str(2**63)}, {"skin": ""}, {"seed": "x"})
    for one in wrong:
        assert at_home.post(path, sent | one).status_code == 422
    assert get_features(fresh(mira)).glasses == "round"


def test_the_editor_shows_other_faces_and_keeps_none(at_home: Client, mira: Companion) -> None:
    path = f"/companions/{mira.pk}/face/"
    assert at_home.get(path, {"seed": "9"}).context["features"] == draw_features(9)
    assert at_home.get(path, {"seed": "9" * 40}).context["features"] == get_features(mira)
    shuffled = {at_home.get(path, {"shuffle": ""}).context["features"] for _ in range(4)}
    assert len(shuffled) > 1
    page = at_home.get(
        f"{path}preview/", {"seed": "9", **asdict(draw_features(9).with_choices({"hair": "cloud"}))}
    )
    assert page.context["features"] == draw_features(9).with_choices({"hair": "cloud"})
    assert not Portrait.objects.exists()


def test_the_image_is_the_drawing_as_it_feels_and_asked_for_once(at_home: Client, mira: Companion) -> None:
    path = f"/companions/{mira.pk}/face/image/"
    drawings = {at_home.get(path, {"emotion": emotion}).content for emotion in Emotion.values}
    assert len(drawings) == len(Emotion)
    calm = at_home.get(path)
    assert calm.content.decode() == render_portrait(get_features(mira), hue=mira.tint)
    assert at_home.get(path, headers={"If-None-Match": calm["ETag"]}).status_code == 304
    assert at_home.get(path, headers={"If-None-Match": "*"}).status_code == 304
    assert "sandbox" in calm["Content-Security-Policy"]
    assert "private" in calm["Cache-Control"]
    choose_features(mira, 77, {})
    assert at_home.get(path, headers={"If-None-Match": calm["ETag"]}).status_code == 200


def test_the_portrait_comes_with_its_companion(
    at_home: Client, mira: Companion, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    choose_features(mira, 3, {"hair": "bob"})
    with django_assert_max_num_queries(3):  # whose session, who, the companion with its portrait
        at_home.get(f"/companions/{mira.pk}/face/preview/", {"seed": "1", **asdict(draw_features(1))})


# -- API ------------------------------------------------------------------------------------------------------------


def test_a_face_is_read_and_chosen_through_the_api(as_alice: Api, mira: Companion) -> None:
    path = f"/companions/{mira.pk}/portrait"
    told = as_alice.get(path).json()
    assert told == {"seed": mira.pk.int % 2**63, "features": asdict(get_features(mira)), "chosen": []}
    put = as_alice.call("PUT", path, {"seed": 4, "features": {"hair": "bun", "nose": draw_features(4).nose}})
    assert put.json() == {
        "seed": 4,
        "features": asdict(draw_features(4)) | {"hair": "bun"},
        "chosen": ["hair"],
    }
    assert as_alice.get(path).json() == put.json()
    assert as_alice.call("PUT", path, {"features": {"hair": "bob"}}).json()["seed"] == 4
    problem(as_alice.call("PUT", path, {"features": {"horns": "two"}}), 422, "no_such_feature")
    problem(as_alice.call("PUT", path, {"features": {"hair": "horns"}}), 422, "no_such_feature")
    assert as_alice.call("PUT", path, {"seed": -1}).status_code == 422
    assert as_alice.get(path).json()["features"]["hair"] == "bob"


def test_the_drawing_comes_as_svg(as_alice: Api, mira: Companion) -> None:
    path = f"/companions/{mira.pk}/portrait.svg"
    calm, half, whole = (
        as_alice.get(f"{path}{asked}") for asked in ("", "?emotion=sad&intensity=0.5", "?emotion=sad")
    )
    assert calm["Content-Type"] == "image/svg+xml"
    assert len({calm.content, half.content, whole.content}) == 3
    assert as_alice.get(f"{path}?emotion=bored").status_code == 422
    assert as_alice.get(f"{path}?intensity=NaN").status_code == 422


def test_pictures_go_through_the_api(as_alice: Api, mira: Companion) -> None:
    path = f"/companions/{mira.pk}/pictures"
    made = as_alice.form(path, {"file": SimpleUploadedFile("a.png", painted()), "emotion": "angry"})
    assert made.status_code == 201
    assert made.json() | {"file_id": ""} == {"emotion": "angry", "file_id": "", "width": 40, "height": 30}
    assert as_alice.get(f"/files/{made.json()['file_id']}").status_code == 200
    as_alice.form(path, {"file": SimpleUploadedFile("a.png", painted())})
    assert [one["emotion"] for one in as_alice.get(path).json()["items"]] == ["always", "angry"]
    problem(as_alice.form(path, {"file": SimpleUploadedFile("a.png", SCRIPTED)}), 422, "no_picture")
    bored = {"file": SimpleUploadedFile("a.png", painted()), "emotion": "bored"}
    problem(as_alice.form(path, bored), 422, "no_such_emotion")
    for emotion in ("angry", "always", "always"):
        assert as_alice.call("DELETE", f"{path}/{emotion}").status_code == 204
    assert as_alice.get(path).json()["items"] == []


def test_the_tables_stand_in_the_documentation(as_alice: Api) -> None:
    schema = as_alice.get("/openapi.json").json()["components"]["schemas"]["PortraitIn"]
    told = schema["properties"]["features"]["description"]
    assert all(name in told for table in TABLES.values() for name in table)


# -- in the talk ----------------------------------------------------------------------------------------------------


def test_beside_an_answer_it_looks_as_the_answer_ended(at_home: Client, mira: Companion) -> None:
    reply = answered(mira, "I won", "Oh! How lovely.")
    image = f'src="/companions/{mira.pk}/face/image/'
    path = f"/companions/{mira.pk}/turns/{reply.message_id}/"
    assert f'{image}"' in at_home.get(path).content.decode()
    felt = [
        {"at": 0, "emotion": "surprised", "intensity": 1},
        {"at": 4, "emotion": "happy", "intensity": 0.8},
    ]
    Reply.objects.filter(pk=reply.pk).update(emotions=felt)
    assert f'{image}?emotion=happy"' in at_home.get(path).content.decode()
    Reply.objects.filter(pk=reply.pk).update(emotions=[*felt, {"at": 5, "emotion": "bored", "intensity": 1}])
    assert f'{image}"' in at_home.get(path).content.decode()


def test_the_talk_begins_with_its_mood(at_home: Client, mira: Companion) -> None:
    felt = Feeling(-0.6, 0.2, Emotion.SAD, 0.9)
    inner_state.revise(mira.pk, "Low.", felt, by=InnerState.By.USER, now=timezone.now())
    page = at_home.get(f"/companions/{mira.pk}/").content.decode()
    assert re.search(r'data-face data-emotion="sad" data-intensity="0\.[89]', page)

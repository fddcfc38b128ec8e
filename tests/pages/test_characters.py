"""Whom one begins with: Kith's own characters by one tap, or a companion of one's own in plain words."""

import re
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from accounts.models import User
from companions.characters import load_characters
from companions.creation import begin_as
from companions.face.portraits import draw_features, get_features
from companions.models import Companion, Message
from tests.fixtures.turns import make_companion
from voice.speech.voices import get_voice

NEW, OWN = "/companions/new/", "/companions/new/own/"
HAN = re.compile(r"[\u4e00-\u9fff]")


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_twelve_characters_are_whole_and_unlike_each_other(language: str) -> None:
    characters = load_characters(language)
    assert len(characters) == 12
    for distinct in ("slug", "name", "kind", "line", "face", "tint"):
        assert len({getattr(character, distinct) for character in characters}) == 12, distinct
    for character in characters:
        texts = [
            *(character.name, character.kind, character.line, character.persona, character.example_dialogue),
            *(*character.greetings, *character.suggestions),
        ]
        assert all(text.strip() and bool(HAN.search(text)) == (language != "en") for text in texts) or (
            character.slug == "noor"  # who greets in several languages
        )
        assert len(set(character.greetings)) >= 3
        assert len(set(character.suggestions)) == 3
        assert max(map(len, character.suggestions)) <= 50
        assert character.example_dialogue.count("{{char}}") >= 2
    assert {character.slug for character in load_characters("en")} == {one.slug for one in characters}
    assert load_characters("fr") == load_characters("en")


@pytest.mark.parametrize(("chance", "number"), [(0.0, 0), (0.5, 1), (0.999, 2)])
def test_one_of_the_greetings_is_chosen_by_chance(chance: float, number: int) -> None:
    character = load_characters("en")[0]
    assert character.choose_greeting(chance) == character.greetings[number]


def test_a_new_person_lands_among_the_characters(at_home: Client) -> None:
    assert at_home.get("/companions/")["Location"] == NEW
    page = at_home.get(NEW).content.decode()
    for character in load_characters("en"):
        assert all(text in page for text in (character.name, character.kind))
        assert f'value="{character.slug}"' in page
    assert OWN in page
    assert "DigitalLife" in page


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_tap_begins_a_talk_with_a_character(at_home: Client, alice: User, language: str) -> None:
    alice.language = language
    alice.save()
    character = load_characters(language)[2]
    response = at_home.post(NEW, {"character": character.slug})
    companion = Companion.objects.owned_by(alice).get()
    assert response["Location"] == f"/companions/{companion.pk}/"
    assert (companion.name, companion.persona) == (character.name, character.persona)
    assert companion.example_dialogue == character.example_dialogue
    assert Message.objects.get().text in character.greetings
    assert get_features(companion) == draw_features(character.face)
    assert get_voice(companion).speed == character.pace
    page = at_home.get(response["Location"]).content.decode()
    assert all(f"data-says>{suggestion}<" in page for suggestion in character.suggestions)
    assert 'data-emotion="happy"' in page  # glad of the meeting


def test_a_greeting_calls_a_person_by_name_or_not_at_all(alice: User) -> None:
    alice.name = ""
    alice.save()
    for character in load_characters("en"):
        for chance in (0.0, 0.4, 0.8):
            begin_as(alice, character, character.choose_greeting(chance), alice.date_joined)
    assert not [text for text in Message.objects.values_list("text", flat=True) if "{{" in text]


def test_two_taps_begin_one_talk(at_home: Client) -> None:
    asked = {"character": "wren", "key": f"{uuid4()}-wren"}
    assert at_home.post(NEW, asked)["Location"] == at_home.post(NEW, asked)["Location"]
    assert Companion.objects.count() == 1


def test_two_taps_make_one_companion_of_ones_own_and_another_text_another_one(at_home: Client) -> None:
    asked = {"name": "Juno", "tint": "100", "key": str(uuid4())}
    assert at_home.post(OWN, asked)["Location"] == at_home.post(OWN, asked)["Location"]
    assert at_home.post(OWN, asked | {"name": "Ida"}).status_code == 302
    assert set(Companion.objects.values_list("name", flat=True)) == {"Juno", "Ida"}
    assert Companion.objects.count() == 2


@pytest.mark.parametrize("key", ["", "a\x00b", "k" * 201])
def test_a_key_that_no_page_of_ours_holds_is_refused(at_home: Client, key: str) -> None:
    assert at_home.post(NEW, {"character": "wren", "key": key}).status_code == 400
    assert not Companion.objects.exists()


@pytest.mark.parametrize("slug", ["", "nobody", "../wren", "wren\x00", "w" * 100_000])
def test_a_character_that_is_not_there_is_refused(at_home: Client, slug: str) -> None:
    assert at_home.post(NEW, {"character": slug}).status_code == 422
    assert not Companion.objects.exists()


def test_answers_in_plain_words_become_a_persona(at_home: Client, alice: User) -> None:
    answers = {"role": "A neighbour", "manner": "Dry, short", "interests": "Tomatoes", "persona": "Is 70."}
    chosen = {"name": "Juno", "tint": "100", "face": "107", "pace": "0.9", "greeting": "Hello, {{user}}."}
    response = at_home.post(OWN, answers | chosen)
    companion = Companion.objects.owned_by(alice).get()
    assert response["Location"] == f"/companions/{companion.pk}/"
    assert companion.persona.split("\n\n") == [
        "Relationship: A neighbour",
        "Way of talking: Dry, short",
        "Cares about: Tomatoes",
        "Is 70.",
    ]
    assert Message.objects.get().text == "Hello, Alice."
    assert get_features(companion) == draw_features(107)
    assert get_voice(companion).speed == 0.9
    page = at_home.get(response["Location"]).content.decode()
    assert page.count("data-says>") == 3


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"role": "r" * 501}, "role"),
        ({"manner": "a\x00b"}, "manner"),
        ({"face": "1"}, "face"),
        ({"pace": "9"}, "pace"),
        ({"role": "r" * 500, "persona": "p" * 39_999}, "__all__"),
    ],
)
def test_answers_that_do_not_fit_get_the_form_back(
    at_home: Client, wrong: dict[str, Any], field: str
) -> None:
    response = at_home.post(OWN, {"name": "Juno", "tint": "40"} | wrong)
    assert response.status_code == 422
    assert list(response.context["form"].errors) == [field]
    assert not Companion.objects.exists()


def test_what_a_file_suggests_is_only_text(at_home: Client, alice: User) -> None:
    companion = make_companion(alice)
    Companion.objects.update(suggestions=["<script>alert(1)</script>"])
    assert "<script>alert" not in at_home.get(f"/companions/{companion.pk}/").content.decode()

"""Programs that are not Kith read what Kith writes, and Kith what they write: tavern-card (V1 to V3), aichar (V1)."""

import json
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import aichar
import pytest
import tavern_card

from cards.child import parse
from cards.schema import normalise
from cards.writer import write_card
from tests.cards.corpus import FACE, V1, V2, V3, VARIANTS, Card

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
# What aichar calls V1's fields.
AICHAR = {
    "name": "name",
    "summary": "description",
    "personality": "personality",
    "scenario": "scenario",
    "greeting_message": "first_mes",
    "example_messages": "mes_example",
}
CARDS = {
    name: VARIANTS[name] for name in ("V1", "Pygmalion", "V2 by SillyTavern", "V2", "V3 with a pattern", "V3")
}
# Of these forms it knows other fields only.
ITS_FORMS = {
    "tavernai": set(V1),
    "sillytavern": set(V1),
    "pygmalion": {"name", "scenario", "first_mes", "mes_example"},
    "textgenerationwebui": {"name", "scenario", "first_mes", "mes_example"},
    "aicompanion": {"name", "first_mes", "mes_example"},
}


def written(name: str, spec: str, form: str) -> tuple[Card, bytes]:
    card = normalise(CARDS[name])[0]
    return card, write_card(card, spec=spec, form=form, modified=NOW, picture_png=FACE)


@pytest.mark.parametrize("name", CARDS)
@pytest.mark.parametrize("spec", ["2", "3"])
@pytest.mark.parametrize("form", ["json", "png"])
def test_tavern_card_reads_what_kith_writes(name: str, spec: str, form: str) -> None:
    card, content = written(name, spec, form)
    told = (tavern_card.parse_card if form == "json" else tavern_card.parse_png_card)(content)
    assert told["spec"] == f"chara_card_v{spec}"
    data = told["data"]
    for key in data.keys() - {"character_book"}:
        assert data[key] == card["data"][key]
    book = card["data"]["character_book"]
    assert len((data["character_book"] or {"entries": []})["entries"]) == (
        len(book["entries"]) if book else 0
    )


@pytest.mark.parametrize("name", CARDS)
@pytest.mark.parametrize(("spec", "form"), [("2", "json"), ("2", "png"), ("3", "png")])
def test_aichar_reads_what_kith_writes(name: str, spec: str, form: str) -> None:
    card, content = written(name, spec, form)
    told = (
        aichar.load_character_json(content.decode())
        if form == "json"
        else aichar.load_character_card(content)
    )
    assert {key: getattr(told, name) for name, key in AICHAR.items()} == {
        key: card["data"][key] for key in V1
    }


@pytest.mark.parametrize("card", [V1, V2, V3], ids=["V1", "V2", "V3"])
def test_kith_reads_what_tavern_card_writes(card: Card) -> None:
    told = parse(BytesIO(tavern_card.write_png_card(tavern_card.parse_card(json.dumps(card)), FACE)))
    assert told.file.picture == FACE
    known, expected = told.file.known.card["data"], normalise(card)[0]["data"]
    assert {key: known[key] for key in V1} == V1
    for key in ("character_book", "extensions", "tags", "alternate_greetings", "creator_notes"):
        assert known[key] == expected[key]


@pytest.mark.parametrize("form", ITS_FORMS)
def test_kith_reads_what_aichar_writes(form: str, tmp_path: Path) -> None:
    face = tmp_path / "face.png"
    face.write_bytes(FACE)
    made = aichar.create_character(*(V1[key] for key in AICHAR.values()), str(face))
    for content in (made.export_json(form).encode(), bytes(made.export_card(form))):
        data = parse(BytesIO(content)).file.known.card["data"]
        assert {key: data[key] for key in ITS_FORMS[form]} == {key: V1[key] for key in ITS_FORMS[form]}

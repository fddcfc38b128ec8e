"""The texts of a character by the API and the command line: tried out, kept in versions, restored, brought as a card."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from companions.models import CardUpload, Companion
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.rest import Api, problem

pytestmark = pytest.mark.django_db


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("web")
async def test_a_character_is_tried_out_with_texts_that_are_not_saved(
    as_alice: Api, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"answer": "<emotion happy 0.5> I dive."})
    response = await as_alice.apost(f"/companions/{mira.pk}/try", {"text": "Hi", "persona": "A diver."})
    told = response.json()
    assert (told["text"], told["is_rehearsed"]) == ("I dive.", True)
    assert told["emotions"][0]["emotion"] == "happy"
    assert "A diver." in rehearsal.requests()[-1]["messages"][0]["content"]
    await mira.arefresh_from_db()
    assert mira.persona == "Mira is calm and curious."
    rehearsal.script({"error": {"status": 500}})
    problem(await as_alice.apost(f"/companions/{mira.pk}/try", {"text": "Hi"}), 503, "provider_unavailable")


@pytest.mark.django_db(transaction=True)
async def test_who_tries_too_often_has_to_wait(as_alice: Api, mira: Companion, settings: Any) -> None:
    settings.RATES = settings.RATES | {"trials": [(0, 60)]}
    response = await as_alice.apost(f"/companions/{mira.pk}/try", {"text": "Hi"})
    problem(response, 429, "too_many_trials_a_minute")


def test_each_change_keeps_a_version_that_can_hold_again(as_alice: Api, mira: Companion) -> None:
    path = f"/companions/{mira.pk}"
    as_alice.call("PATCH", path, {"persona": "Loud.", "alternate_greetings": ["Hey."]})
    as_alice.call("PATCH", path, {"tint": 200})
    as_alice.call("PATCH", path, {"nickname": "Mir"})
    newest, oldest = as_alice.get(f"{path}/versions").json()["items"]
    assert [newest["changed"], oldest["changed"]] == [["nickname"], ["persona", "alternate_greetings"]]
    assert (newest["texts"]["persona"], oldest["texts"]["persona"]) == ("Loud.", "Mira is calm and curious.")
    restored = as_alice.post(f"{path}/versions/{oldest['id']}/restore").json()
    assert restored["persona"] == "Mira is calm and curious."
    assert (restored["nickname"], restored["alternate_greetings"], restored["tint"]) == ("", [], 200)
    kept = as_alice.get(f"{path}/versions").json()["items"]
    assert [version["changed_by"] for version in kept] == ["restore", "api", "api"]
    assert kept[0]["texts"]["nickname"] == "Mir"
    assert as_alice.call("DELETE", f"{path}/versions/{oldest['id']}").status_code == 204
    assert mira.versions.count() == 2


# -- manage.py import_card


def import_card(file: Path, *more: str) -> str:
    said = StringIO()
    call_command("import_card", str(file), *more, stdout=said)
    return said.getvalue()


def test_the_command_makes_a_companion_and_prints_its_id_alone(alice: User, tmp_path: Path) -> None:
    card = tmp_path / "odessa.json"
    data = {"name": "Odessa", "first_mes": "Late.", "alternate_greetings": ["Sit, {{user}}."]}
    card.write_text(json.dumps({"spec": "chara_card_v3", "data": data}))
    said = import_card(card, "--owner", "ALICE@example.org", "--greeting", "1")
    companion = Companion.objects.get(pk=said.strip())
    assert (companion.user, companion.name) == (alice, "Odessa")
    assert companion.messages.get().text.startswith("Sit,")
    assert not CardUpload.objects.exists()


@pytest.mark.parametrize(
    ("content", "more", "told"),
    [
        ('{"data": {"name": "Odessa"}}', ("--owner", "nobody@example.org"), "There is no active account"),
        ("not a card", ("--owner", "alice@example.org"), "Nothing was made: "),
        ('{"spec": "chara_card_v3", "data": {"name": ""}}', ("--owner", "alice@example.org"), "has no name"),
    ],
)
def test_the_command_says_why_nothing_was_made(
    alice: User, tmp_path: Path, content: str, more: tuple[str, ...], told: str
) -> None:
    card = tmp_path / "card.json"
    card.write_text(content)
    with pytest.raises(CommandError, match=told):
        import_card(card, *more)
    assert not Companion.objects.exists()
    assert not CardUpload.objects.exists()

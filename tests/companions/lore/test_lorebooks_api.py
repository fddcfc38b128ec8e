"""Lorebooks over REST: made, read, replaced, deleted, tried; what is too much is refused."""

from dataclasses import replace
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from cards.reader import ReadCard
from cards.schema import normalise
from companions.errors import LimitError
from companions.lore import editing
from companions.models import Companion, Lorebook, LoreEntry
from companions.transfer.card_import import keep_upload
from tests.companions.life.waking import say
from tests.fixtures.rest import Api, problem

pytestmark = pytest.mark.django_db
ENTRY = {"keys": ["dragon"], "content": "It sleeps.", "name": "Dragon", "mine": {"a": 1}}


def book(*entries: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"book": {"name": "The realm", "entries": list(entries)}, **fields}


def test_a_book_is_made_once_tried_replaced_and_deleted(as_alice: Api, mira: Companion) -> None:
    sent = book(ENTRY, ENTRY | {"name": "Winter", "extensions": {"delay": 5}}, companion_id=str(mira.pk))
    made = as_alice.post("/lorebooks", sent, **{"Idempotency-Key": "k"})
    assert made.status_code == 201
    assert as_alice.post("/lorebooks", sent, **{"Idempotency-Key": "k"}).json()["id"] == made.json()["id"]
    listed = as_alice.get("/lorebooks").json()["items"]
    assert [(one["name"], one["entry_count"], one["companion_id"]) for one in listed] == [
        ("The realm", 2, str(mira.pk))
    ]
    path = f"/lorebooks/{made.json()['id']}"
    assert as_alice.get(path).json()["book"]["entries"][0]["mine"] == {"a": 1}
    tried = as_alice.post(f"/companions/{mira.pk}/lore/try", {"text": "A dragon"}).json()
    assert [(one["name"], one["code"], one["place"]) for one in tried["fired"]] == [
        ("Dragon", "key", "after the description")
    ]
    assert [(one["name"], one["code"]) for one in tried["dropped"]] == [("Winter", "delay")]
    assert "“dragon” appears in what was just said." in tried["dropped"][0]["why"]
    replaced = as_alice.call("PUT", path, book(ENTRY, is_enabled=False)).json()
    assert (replaced["id"], replaced["entry_count"]) == (made.json()["id"], 1)
    assert (replaced["companion_id"], replaced["is_enabled"]) == (None, False)
    assert Lorebook.objects.count() == 1
    assert as_alice.post(f"/companions/{mira.pk}/lore/try", {"text": "A dragon"}).json() == {
        "fired": [],
        "dropped": [],
    }
    assert as_alice.call("DELETE", path).status_code == 204
    assert not Lorebook.objects.exists()


def test_what_is_tried_is_counted_as_the_next_message(as_alice: Api, mira: Companion) -> None:
    as_alice.post("/lorebooks", book(ENTRY | {"extensions": {"delay": 2}}, companion_id=str(mira.pk)))
    path, dragon = f"/companions/{mira.pk}/lore/try", {"text": "A dragon"}
    assert [one["code"] for one in as_alice.post(path, dragon).json()["dropped"]] == ["delay"]
    say(mira, "Hello.", at=timezone.now())
    assert [one["code"] for one in as_alice.post(path, dragon).json()["fired"]] == ["key"]


@pytest.mark.parametrize(
    ("entries", "code"),
    [
        ([ENTRY | {"content": "x" * 20_001}], "content_too_long"),
        ([ENTRY | {"keys": ["k"] * 101}], "too_many_keys"),
        ([ENTRY | {"secondary_keys": ["k" * 501]}], "key_too_long"),
        ([{}] * 2_001, "too_many_entries"),
    ],
)
def test_what_is_too_much_is_refused_with_its_entry(
    as_alice: Api, entries: list[dict[str, Any]], code: str
) -> None:
    told = problem(as_alice.post("/lorebooks", book(*entries)), 422, code)
    assert "Entry 1 cannot be saved" in told["detail"] or code == "too_many_entries"
    assert not Lorebook.objects.exists()


def test_lorebooks_and_cards_have_bounded_room(as_alice: Api, mira: Companion, settings: Any) -> None:
    settings.CHARACTER_BYTES_EACH = 2_200
    read = ReadCard("json", "3", normalise({"spec": "chara_card_v3", "data": {"name": "O"}})[0], None, [], [])
    keep_upload(mira.user, read, b"", timezone.now())
    made = as_alice.post("/lorebooks", book(ENTRY | {"content": "x" * 500})).json()
    kept = Lorebook.objects.get(pk=made["id"])
    entry = kept.entries.get()
    larger = {**entry.data, "content": "x" * 1_500}
    for write in (
        lambda: editing.change_entry(entry, larger),
        lambda: editing.add_entry(kept, larger),
        lambda: keep_upload(
            mira.user, replace(read, card={**read.card, "more": "x" * 3_000}), b"", timezone.now()
        ),
    ):
        with transaction.atomic(), pytest.raises(LimitError, match="no_room"):
            write()
    problem(as_alice.post("/lorebooks", book(ENTRY | {"content": "x" * 1_500})), 409, "no_room")
    problem(as_alice.call("PUT", f"/lorebooks/{kept.pk}", book(larger)), 409, "no_room")
    assert [len(one.data["content"]) for one in LoreEntry.objects.all()] == [500]
    assert mira.user.card_uploads.count() == 1


def test_a_book_for_all_companions_is_for_ones_own_alone(
    as_alice: Api, as_mallory: Api, mira: Companion
) -> None:
    as_mallory.post("/lorebooks", book(ENTRY))
    tried = as_alice.post(f"/companions/{mira.pk}/lore/try", {"text": "A dragon!"}).json()
    assert tried["fired"] == []
    as_alice.post("/lorebooks", book(ENTRY))
    tried = as_alice.post(f"/companions/{mira.pk}/lore/try", {"text": "A dragon!"}).json()
    assert len(tried["fired"]) == 1


def test_another_ones_companion_gets_no_book(as_mallory: Api, mira: Companion) -> None:
    assert as_mallory.post("/lorebooks", book(companion_id=str(mira.pk))).status_code == 404

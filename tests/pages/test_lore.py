"""Lorebooks on pages: made, written, brought, tried out, given out and deleted; and what the talk says of them."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.template.loader import render_to_string
from django.test import Client, RequestFactory
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from cards.lorebooks import MAX_ENTRIES, normalise_book
from companions.lore import editing
from companions.lore.explanation import explain
from companions.lore.rules.context import Reason
from companions.lore.rules.scan import Placed, Scan
from companions.lore.turn import keep_firings
from companions.models import Companion, Lorebook, LoreEntry, Reply
from tests.pages.conftest import Told

pytestmark = pytest.mark.usefixtures("module_mira")
NOW = timezone.now()
QUERIES = 6  # session, person, companion, book, count, entries
DRAGON = {
    "keys": ["dragon", "/drakes?/i"],
    "content": "The dragon sleeps below the lake.",
    "name": "The dragon",
    "mine": 1,
    "extensions": {"group_weight": 7, "position": 4, "depth": 2, "role": 1, "other": {"a": 1}},
}
WORLD_INFO = {
    "entries": {
        "0": {
            "uid": 0,
            "key": ["lake", "shore"],
            "comment": "Lake",
            "content": "A {1}.",
            "selectiveLogic": 0,
        },
        "1": {"uid": 1, "key": ["x"], "content": "Always.", "constant": True, "selectiveLogic": 0},
    }
}


def path(companion: Companion, rest: str = "") -> str:
    return f"/companions/{companion.pk}/lore/{rest}"


def make(companion: Companion, *entries: dict[str, Any], **fields: Any) -> Lorebook:
    book = normalise_book({"name": "The realm", "entries": list(entries), **fields})
    return editing.make_book(companion.user, book, NOW, companion=companion)


def fill(client: Client, address: str, **changed: Any) -> dict[str, Any]:
    """What the form at the address would send, with what is changed."""
    form = client.get(address).context["form"]
    sent = {name: form[name].value() for name in form.fields}
    return {
        name: value for name, value in (sent | changed).items() if value is not None and value is not False
    }


def lore_of(told: Told) -> dict[str, Any]:
    lore: dict[str, Any] = Reply.objects.get(pk=told.reply.pk).lore
    return lore


def file(content: object, name: str = "book.json") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, json.dumps(content).encode(), "application/json")


def test_a_book_is_made_written_tried_and_deleted(at_home: Client, mira: Companion) -> None:
    assert (
        "Create a lorebook and write in it what Mira should know" in at_home.get(path(mira)).content.decode()
    )
    at_home.post(path(mira, "add/"), {"name": "The realm"})
    book = Lorebook.objects.get(companion=mira)
    add = path(mira, f"{book.pk}/entries/add/")
    sent = fill(at_home, add, keys="dragon, /a{1,2}b/, dragon", content="It sleeps.", sticky="2")
    assert at_home.post(add, sent).status_code == 302
    data = book.entries.get().data
    assert data["keys"] == ["dragon", "/a{1,2}b/"]
    assert (data["extensions"]["sticky"], data["enabled"]) == (2, True)
    tried = at_home.post(
        path(mira, "try/"), {"text": "A dragon!"}, headers={"HX-Request": "true", "HX-Target": "tried"}
    ).content.decode()
    assert "“dragon” appears in what was just said." in tried
    assert "Place: after the description." in tried
    assert "<html" not in tried
    settings = path(mira, f"{book.pk}/settings/")
    at_home.post(settings, {"name": "Elsewhere", "scan_depth": "7"})
    book.refresh_from_db()
    assert (book.name, book.scan_depth, book.is_enabled) == ("Elsewhere", 7, False)
    assert (
        "This text triggers no entries"
        in at_home.post(path(mira, "try/"), {"text": "A dragon!"}).content.decode()
    )
    assert "with its 1 entry" in at_home.get(path(mira, f"{book.pk}/delete/")).content.decode()
    at_home.post(path(mira, f"{book.pk}/delete/"))
    assert not Lorebook.objects.exists()


def test_what_a_form_does_not_know_stays(at_home: Client, mira: Companion) -> None:
    book = make(mira, DRAGON)
    entry = book.entries.get()
    before, address = entry.data, path(mira, f"{book.pk}/entries/{entry.pk}/")
    assert at_home.post(address, fill(at_home, address)).status_code == 302
    entry.refresh_from_db()
    assert entry.data == before
    at_home.post(address, fill(at_home, address, depth="5", probability="40"))
    entry.refresh_from_db()
    changed = {"depth": 5, "probability": 40, "useProbability": True}
    assert entry.data == {**before, "extensions": before["extensions"] | changed}
    at_home.post(f"{address}delete/")
    assert not book.entries.exists()


def test_a_single_pattern_of_v3_becomes_one_between_slashes(at_home: Client, mira: Companion) -> None:
    book = make(mira, DRAGON | {"keys": ["dr(a|/)gon"], "use_regex": True})
    entry = book.entries.get()
    address = path(mira, f"{book.pk}/entries/{entry.pk}/")
    at_home.post(address, fill(at_home, address, secondary_keys="lake", logic="3"))
    entry.refresh_from_db()
    assert (entry.data["keys"], entry.data["use_regex"]) == ([r"/dr(a|\/)gon/i"], False)
    assert (entry.data["selective"], entry.data["extensions"]["selectiveLogic"]) == (True, 3)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"keys": "/dr(/"}, "this pattern cannot be read"),
        ({"keys": "/a/y"}, "cannot have the flags"),
        ({"keys": ""}, "Add a key"),
        ({"keys": "k" * 501}, "at most 500 characters"),
        ({"keys": ",".join(map(str, range(101)))}, "at most 100 keys"),
        ({"content": "x" * 20_001}, "at most 20000 characters"),
        ({"probability": "101"}, "less than or equal to 100"),
    ],
)
def test_what_cannot_be_kept_is_said_at_its_field(
    at_home: Client, mira: Companion, changed: dict[str, str], told: str
) -> None:
    book = make(mira)
    address = path(mira, f"{book.pk}/entries/add/")
    response = at_home.post(address, fill(at_home, address, keys="lake", content="Deep.") | changed)
    assert response.status_code == 422
    field = next(iter(changed))
    assert any(told in error for error in response.context["form"].errors[field])
    assert not book.entries.exists()


def test_a_long_book_is_read_in_pages_and_searched(
    at_home: Client, mira: Companion, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    book = make(mira, *({"keys": [f"key{n}"], "content": f"Text {n}.", "name": f"N{n}"} for n in range(120)))
    address = path(mira, f"{book.pk}/")
    at_home.get(address)
    with django_assert_num_queries(QUERIES):
        first = at_home.get(address).content.decode()
    assert first.count('<article class="memory"') == 50
    assert at_home.get(f"{address}?page=3").content.decode().count('<article class="memory"') == 20
    found = at_home.get(f"{address}?q=KEY119").content.decode()
    assert "N119" in found
    assert found.count('<article class="memory"') == 1


def test_a_book_goes_out_and_comes_in_again(at_home: Client, mira: Companion) -> None:
    book = make(mira, DRAGON, scan_depth=3, other="kept")
    given = at_home.get(path(mira, f"{book.pk}/export/"))
    assert given["Content-Type"] == "application/json"
    written = json.loads(given.content)
    assert written["spec"] == "lorebook_v3"
    at_home.post(path(mira, "import/"), {"file": file(written), "is_for_all": "1"})
    again = Lorebook.objects.get(companion=None)
    assert again.entries.get().data == book.entries.get().data
    assert (again.scan_depth, again.data["other"]) == (3, "kept")
    card = {"spec": "chara_card_v2", "data": {"name": "A", "first_mes": "Hi"}}
    page = at_home.post(path(mira, "import/"), {"file": file(card)}, follow=True).content.decode()
    assert "a character card without a lorebook" in page


def test_a_world_info_that_is_dropped_counts_for_all_companions(at_home: Client, mira: Companion) -> None:
    page = at_home.post("/companions/new/card/", {"file": file(WORLD_INFO)}, follow=True).content.decode()
    book = Lorebook.objects.get()
    assert book.companion is None
    assert f"/companions/{mira.pk}/lore/{book.pk}/entries/add/" in page
    assert "was turned into a lorebook" in page
    tried = at_home.post(path(mira, "try/"), {"text": "At the shore"}).content.decode()
    assert "“shore” appears in what was just said." in tried  # its second key, which is no pattern
    assert "It is always read." in tried


def test_limits_of_a_person_and_of_a_book(at_home: Client, mira: Companion, alice: User) -> None:
    Lorebook.objects.bulk_create(
        Lorebook(user=alice, name="One", created_at=NOW) for _number in range(editing.BOOKS_EACH)
    )
    page = at_home.post(path(mira, "add/"), {"name": "One more"})
    assert page.status_code == 422
    assert "which is the most you can have" in page.content.decode()
    book = Lorebook.objects.filter(user=alice)[0]
    LoreEntry.objects.bulk_create(LoreEntry(lorebook=book, place=n) for n in range(MAX_ENTRIES))
    address = path(mira, f"{book.pk}/entries/add/")
    page = at_home.post(address, fill(at_home, address, keys="lake", content="Deep."))
    assert "at most 2,000 entries" in page.content.decode()


def test_the_talk_says_which_lore_was_read(
    at_home: Client, told: Told, olive: User, rf: RequestFactory
) -> None:
    assert "looked up" not in at_home.get(told.path).content.decode()
    entry = make(told.companion, DRAGON).entries.get()
    key = f"{entry.lorebook_id}:{entry.pk}"
    place = {"place": "depth", "depth": 2, "role": "system", "tokens": 9}
    reason = Reason("key", "dragon", message=3)
    placed = Placed(key, str(entry.lorebook_id), "The dragon", "", reason=reason, **place)  # type: ignore[arg-type]
    keep_firings(told.reply, told.message, Scan((placed,), (), ()))
    page = at_home.get(told.path).content.decode()
    assert "looked up: The dragon" in page
    assert "“dragon” appears 3 messages back." in page
    assert "in the talk, before its last 2 messages" in page
    request = rf.get("/")
    request.user = olive
    context = {"request": request, "reply": told.reply, "lore": explain(lore_of(told))}
    shown = render_to_string("admin/companions/reply.html", context)
    assert "“dragon” appears 3 messages back." in shown


def test_a_book_without_a_name_can_be_opened(at_home: Client, mira: Companion) -> None:
    make(mira, name="")
    assert ">A lorebook without a name</a>" in at_home.get(path(mira)).content.decode()


def test_what_is_too_much_for_one_file_is_said(at_home: Client, mira: Companion) -> None:
    book = make(mira)
    entry = {**DRAGON, "content": "x" * 20_000}
    LoreEntry.objects.bulk_create(LoreEntry(lorebook=book, place=n, data=entry) for n in range(260))
    response = at_home.get(path(mira, f"{book.pk}/export/"), follow=True)
    assert "This lorebook is too large for one file." in response.content.decode()

"""Character cards through the pages and the API: looked at, made into companions, given out, and swept."""

import io
import json
import re
from datetime import timedelta
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from PIL import Image

from accounts.models import IdempotencyKey, User
from cards.child import parse
from cards.reader import read_card
from companions.face.portraits import put_picture
from companions.life import first_state
from companions.lore import editing
from companions.lore.editing import BOOKS_EACH
from companions.lore.rules.books import read_book as read_entries
from companions.models import Card, CardUpload, Companion, Lorebook, LoreEntry, Message, Picture
from companions.transfer.card_export import compose_card
from companions.transfer.card_import import (
    CardError,
    delete_unused_uploads,
    keep_upload,
    make_companion,
)
from companions.transfer.card_preview import describe
from files.contents import read_content
from files.models import StoredFile
from tests.cards.corpus import png_of
from tests.companions.face.paintings import painted
from tests.files.hostile import drawn
from tests.fixtures.rest import Api, problem

pytestmark = pytest.mark.django_db
ENTRY = {
    "keys": ["harbour"],
    "content": "The harbour froze in the year of the comet.",
    "extensions": {"their": 1},
    "enabled": True,
    "insertion_order": 10,
    "use_regex": False,
}
DATA: dict[str, Any] = {
    "name": "Odessa",
    "nickname": "Dess",
    "description": "{{char}} keeps a lighthouse and distrusts {{user}}'s maps.",
    "personality": "dry, patient",
    "scenario": "A winter night on the rock.",
    "first_mes": "You are late, {{user}}.",
    "alternate_greetings": ["The lamp is out. Help me.", "Sit."],
    "group_only_greetings": ["Both of you, sit."],
    "mes_example": "<START>\n{{user}}: Hello?\n{{char}}: Door.",
    "system_prompt": "Write as a keeper writes a log. {{original}}",
    "post_history_instructions": "Never leave the rock.",
    "creator_notes": "Best by night.",
    "creator": "Mallory",
    "character_version": "1.2",
    "tags": ["sea", "winter"],
    "source": ["elsewhere:1"],
    "extensions": {
        "depth_prompt": {"prompt": "The lamp must burn.", "depth": 2, "role": "system"},
        "unknown": {"deep": [1, None, "x"]},
    },
    "character_book": {"name": "The rock", "entries": [ENTRY], "extensions": {}, "theirs": True},
    "unknown_key": {"kept": True},
}
CARD = {"spec": "chara_card_v3", "spec_version": "3.0", "data": DATA, "beside": "kept"}


def as_file(content: bytes, name: str = "card.json") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def as_json(card: object = CARD) -> SimpleUploadedFile:
    return as_file(json.dumps(card).encode())


@pytest.fixture
def at_home(alice: User, client: Client) -> Client:
    client.force_login(alice)
    return client


@pytest.fixture
def odessa(at_home: Client) -> Companion:
    """Made of the card, with its second greeting."""
    preview = at_home.post("/companions/new/card/", {"file": as_json()})
    at_home.post(preview["Location"], {"name": "Odessa", "greeting": "1"})
    return Companion.objects.get()


def test_all_of_a_card_is_shown_before_anything_is_made(at_home: Client) -> None:
    response = at_home.post("/companions/new/card/", {"file": as_json()}, follow=True)
    page = response.content.decode()
    for shown in (
        *(
            "Odessa",
            "Mallory",
            "1.2",
            "sea, winter",
            "Best by night.",
            "dry, patient",
            "A winter night on the rock.",
        ),
        *("Dess keeps a lighthouse", "The lamp is out. Help me.", "Sit.", "Never leave the rock."),
        *(
            "The lamp must burn.",
            "Write as a keeper writes a log.",
            "harbour",
            "froze in the year of the comet",
        ),
    ):
        assert shown in page, shown
    assert (Companion.objects.count(), CardUpload.objects.count()) == (0, 1)


def test_it_begins_with_the_greeting_that_was_chosen_and_keeps_all_of_the_card(
    odessa: Companion, alice: User
) -> None:
    assert Message.objects.get().text == "The lamp is out. Help me."
    assert odessa.conversation.greeting == 1
    assert (odessa.name, odessa.nickname, odessa.personality) == ("Odessa", "Dess", "dry, patient")
    assert (odessa.depth_prompt, odessa.depth_prompt_depth) == ("The lamp must burn.", 2)
    assert list(LoreEntry.objects.values_list("data__content", flat=True)) == [ENTRY["content"]]
    assert Lorebook.objects.get().user == alice
    assert not CardUpload.objects.exists()


def test_a_card_is_made_into_one_companion(alice: User) -> None:
    read = read_card(json.dumps(CARD).encode())
    first = second = keep_upload(alice, read, b"", timezone.now())
    make_companion(CardUpload.objects.get(pk=first.pk), timezone.now())
    with pytest.raises(CardError, match="no_such_card"):
        make_companion(second, timezone.now())
    assert Companion.objects.count() == 1


def test_what_comes_goes_out_again_unchanged(odessa: Companion) -> None:
    came, goes = parse(io.BytesIO(json.dumps(CARD).encode())).file.known.card, compose_card(odessa)
    assert goes["data"].pop("creation_date", 0) == came["data"].pop("creation_date", 0)
    assert goes == came


def test_what_was_changed_here_goes_out_changed(odessa: Companion) -> None:
    odessa.scenario, odessa.depth_prompt = "Spring.", ""
    odessa.save()
    LoreEntry.objects.create(lorebook=Lorebook.objects.get(), place=1, data={**ENTRY, "content": "New."})
    data = compose_card(odessa)["data"]
    assert data["scenario"] == "Spring."
    assert data["extensions"] == {"unknown": {"deep": [1, None, "x"]}}
    assert [entry["content"] for entry in data["character_book"]["entries"]] == [ENTRY["content"], "New."]


@pytest.mark.parametrize("query", ["as=json", "as=json&spec=v2", "as=png", "as=png&spec=v2", "as=charx"])
def test_each_form_that_goes_out_is_read_again(at_home: Client, odessa: Companion, query: str) -> None:
    response = at_home.get(f"/companions/{odessa.pk}/settings/export/card/?{query}")
    assert response.status_code == 200
    read = parse(io.BytesIO(response.content))
    assert read.file.known.card["data"]["first_mes"] == DATA["first_mes"]
    assert bool(read.file.picture) == ("json" not in query)
    if read.file.picture:
        with Image.open(io.BytesIO(read.file.picture)) as face:  # the drawn one
            assert face.size == (512, 512)
            assert len(face.convert("RGB").getcolors(1_000_000) or ()) > 20


def test_a_form_that_there_is_not_is_refused(at_home: Client, as_alice: Api, odessa: Companion) -> None:
    path = f"/companions/{odessa.pk}/settings/export/card/?as=charx&spec=v2"
    assert "version 2 or 3" in at_home.get(path, follow=True).content.decode()
    refused = as_alice.get(f"/companions/{odessa.pk}/export/card?as=charx&spec=v2")
    problem(refused, 422, "no_such_form")


def test_a_second_tap_and_the_browsers_back_find_a_card_that_was_used(
    at_home: Client, odessa: Companion
) -> None:
    made = IdempotencyKey.objects.get(operation="make_of_card")
    preview = f"/companions/new/card/{made.key}/"
    again = at_home.post(preview, {"name": "Odessa", "greeting": "1"})
    assert (again.status_code, again["Location"]) == (302, f"/companions/{odessa.pk}/")
    back = at_home.get(preview, follow=True)
    assert back.redirect_chain == [("/companions/new/", 302)]
    assert "You have made Odessa from this card." in back.content.decode()
    assert Companion.objects.count() == 1


def test_a_picture_becomes_the_face_and_goes_with_a_card_that_nobody_wanted(at_home: Client) -> None:
    content = png_of(CARD, picture=drawn(size=(300, 200)))
    for _time in range(2):
        preview = at_home.post("/companions/new/card/", {"file": as_file(content, "x.png")})
    assert (
        f"/files/{CardUpload.objects.latest('created_at').picture_id}/"
        in at_home.get(preview["Location"]).content.decode()
    )
    at_home.post(preview["Location"], {})
    companion = Companion.objects.get()
    assert Picture.objects.get().companion == companion
    assert set(StoredFile.objects.values_list("kind", flat=True)) == {"picture", "card"}
    assert delete_unused_uploads(timezone.now()) == 0
    assert delete_unused_uploads(timezone.now() + timedelta(days=1, minutes=1)) == 1
    assert list(StoredFile.objects.values_list("kind", flat=True)) == ["picture"]


def test_the_files_of_a_charx_are_kept_and_go_out_again(at_home: Client) -> None:
    assets = [
        {"type": "icon", "uri": "embeded://assets/icon/images/main.png", "name": "main", "ext": "png"},
        {"type": "emotion", "uri": "embeded://assets/emotion/images/joy.png", "name": "joy", "ext": "png"},
        {"type": "background", "uri": "http://192.0.2.1/x.png", "name": "main", "ext": "png"},
    ]
    packed, joy = io.BytesIO(), drawn(size=(30, 20))
    with ZipFile(packed, "w") as archive:
        archive.writestr("card.json", json.dumps({**CARD, "data": {**DATA, "assets": assets}}))
        archive.writestr("assets/icon/images/main.png", drawn(size=(60, 60)))
        archive.writestr("assets/emotion/images/joy.png", joy)
    preview = at_home.post("/companions/new/card/", {"file": as_file(packed.getvalue(), "x.charx")})
    at_home.post(preview["Location"], {})
    companion = Companion.objects.get()
    card = Card.objects.get()
    assert card.assets
    assert card.assets.companion == companion
    sent = at_home.get(f"/companions/{companion.pk}/settings/export/card/?as=charx").content
    with ZipFile(io.BytesIO(sent)) as archive:
        assert archive.read("assets/emotion/images/joy.png") == joy
        told = json.loads(archive.read("card.json"))["data"]["assets"]
    assert assets[2] in told


def test_a_picture_put_in_later_is_the_face_in_every_form(at_home: Client, alice: User) -> None:
    assets = [{"type": "icon", "uri": "embeded://face.png", "name": "Odessa", "ext": "png"}]
    assets.append({**assets[0], "type": "emotion", "uri": "embeded://joy.png", "name": "joy"})
    packed = io.BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr("card.json", json.dumps({**CARD, "data": {**DATA, "assets": assets}}))
        archive.writestr("face.png", painted(colour="#c00"))
        archive.writestr("joy.png", painted(colour="#0c0"))
    companion = make_companion(
        keep_upload(alice, read_card(packed.getvalue()), b"", timezone.now()), timezone.now()
    )

    def find_face(form: str) -> tuple[int, ...]:
        sent = at_home.get(f"/companions/{companion.pk}/settings/export/card/?as={form}").content
        _form, file = parse(io.BytesIO(sent))
        assert [asset["name"] for asset in file.known.card["data"]["assets"][1:]] in ([], ["joy"])
        with Image.open(io.BytesIO(file.picture or b"")) as face:
            return face.convert("RGB").resize((1, 1)).getpixel((0, 0))  # type: ignore[return-value]

    assert [find_face(form)[0] > 100 for form in ("png", "charx")] == [True, True]
    put_picture(companion, "", painted(colour="#00c"), timezone.now())
    assert [find_face(form)[2] > 100 for form in ("png", "charx")] == [True, True]


def test_lorebooks_that_go_out_as_one_do_as_they_did_apart(odessa: Companion, alice: User) -> None:
    first = Lorebook.objects.get()
    first.scan_depth, first.token_budget, first.is_recursive = 2, 100, False
    first.save()
    for number, (book, is_enabled) in enumerate(
        [({"recursive_scanning": True, "token_budget": 50}, True), ({"scan_depth": 2}, False)]
    ):
        entry = {**ENTRY, "keys": [f"key {number}"]}
        kept = editing.read_book({**book, "name": "Another", "entries": [entry]})
        editing.make_book(alice, kept, timezone.now(), companion=odessa, is_enabled=is_enabled)
    whole = compose_card(odessa)["data"]["character_book"]
    settings = {"name": "The rock", "scan_depth": 2, "token_budget": 150, "recursive_scanning": True}
    assert {key: whole[key] for key in settings} == settings
    mine, another, off = read_entries("0", whole)
    assert (mine.scan_depth or mine.book.scan_depth, mine.reads_recursion, mine.feeds_recursion) == (
        2,
        False,
        False,
    )
    assert (another.scan_depth, another.reads_recursion, another.feeds_recursion) == (4, True, True)
    assert [entry.is_enabled for entry in (mine, another, off)] == [True, True, False]
    Lorebook.objects.exclude(pk=first.pk).update(is_enabled=False)
    alone = compose_card(odessa)["data"]["character_book"]
    assert (alone["token_budget"], alone["recursive_scanning"]) == (100, False)


def as_large_charx(megabytes: int) -> SimpleUploadedFile:
    """A card with a small icon, which it names last, and pictures of 9 MB before it."""
    joys = [f"joy-{number}.png" for number in range(megabytes // 9 + 1)]
    assets = [{"type": "emotion", "uri": f"embeded://{joy}", "name": joy, "ext": "png"} for joy in joys]
    assets.append({"type": "icon", "uri": "embeded://face.png", "name": "main", "ext": "png"})
    packed = io.BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr("card.json", json.dumps({**CARD, "data": {**DATA, "assets": assets}}))
        for joy in joys:
            archive.writestr(joy, drawn() + bytes(9_000_000))
        archive.writestr("face.png", drawn(size=(60, 60)))
    return SimpleUploadedFile("large.charx", packed.getvalue())


def test_a_charx_larger_than_memory_allows_is_read_where_it_lies(at_home: Client) -> None:
    shown = at_home.post("/companions/new/card/", {"file": as_large_charx(100)}, follow=True)
    assert "all those kept from one card at most 40 MB" in shown.content.decode()
    upload = CardUpload.objects.get()
    assert upload.picture
    assert upload.assets
    with ZipFile(io.BytesIO(read_content(upload.assets))) as archive:
        told = json.loads(archive.read("assets.json"))
    assert [asset["type"] for asset in told] == ["emotion"] * 4 + ["icon"]


def test_what_is_too_large_is_refused_by_what_it_is(at_home: Client, as_alice: Api, settings: Any) -> None:
    settings.CARD_BYTES = 30_000_000
    for way in ("/cards/preview", "/companions/import/card"):
        problem(as_alice.form(way, {"file": as_large_charx(30)}), 413, "too_large")
    settings.CARD_BYTES = 120_000_000
    png = SimpleUploadedFile("x.png", drawn() + bytes(101_000_000))
    said = at_home.post("/companions/new/card/", {"file": png}, follow=True).content.decode()
    assert "50 MB in all unless it is a CHARX" in said
    assert not CardUpload.objects.exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"{", "JSON"),
        (b"hello", "Kith does not recognise this file."),
        (b'{"longTermMemory": []}', "selfName"),
        (json.dumps({**CARD, "data": {**DATA, "description": "x" * 40_001}}).encode(), "40000"),
        (json.dumps({**CARD, "data": {**DATA, "name": "", "nickname": ""}}).encode(), "name"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(at_home: Client, content: bytes, said: str) -> None:
    response = at_home.post("/companions/new/card/", {"file": as_file(content)}, follow=True)
    if "upload" in (response.context or {}):  # it can be looked at, and no companion be made of it
        response = at_home.post(response.request["PATH_INFO"], {"name": ""})
        assert response.status_code == 422
    assert said in response.content.decode()
    assert not Companion.objects.exists()


def test_anothers_upload_is_not_there(at_home: Client, client: Client, mallory: User) -> None:
    path = at_home.post("/companions/new/card/", {"file": as_json()})["Location"]
    client.force_login(mallory)
    assert client.get(path).status_code == 404
    assert client.post(path, {}).status_code == 404
    assert not Companion.objects.exists()


def test_the_api_shows_and_makes_and_gives_out(as_alice: Api, as_mallory: Api) -> None:
    shown = as_alice.form("/cards/preview", {"file": as_json()}).json()
    assert (shown["name"], shown["form"], len(shown["greetings"])) == ("Odessa", "JSON", 3)
    assert [text["name"] for text in shown["hidden"]] == [
        "system_prompt",
        "post_history_instructions",
        "depth_prompt",
    ]
    assert not CardUpload.objects.exists()
    as_alice.headers["Idempotency-Key"] = "once"
    for _time in range(2):
        made = as_alice.form("/companions/import/card", {"file": as_json(), "greeting": "2"})
    del as_alice.headers["Idempotency-Key"]
    assert made.status_code == 201
    assert Message.objects.get().text == "Sit."
    path = f"/companions/{made.json()['id']}/export/card"
    assert as_alice.get(f"{path}?spec=v2").json()["spec"] == "chara_card_v2"
    assert as_mallory.get(path).status_code == 404
    wrong = as_alice.form("/companions/import/card", {"file": as_json(), "greeting": "3"})
    problem(wrong, 422, "no_such_greeting")


def test_the_sandbox_reads_what_the_page_takes(alice: User) -> None:
    read = read_card(png_of(CARD, picture=drawn(size=(30, 20))))
    assert (read.form, read.version) == ("png", "3")
    assert read.card["data"]["name"] == "Odessa"


def test_lore_that_no_book_may_hold_makes_no_companion(at_home: Client) -> None:
    book = {"entries": [{**ENTRY, "content": "x" * 20_001}]}
    card = {**CARD, "data": {**DATA, "character_book": book}}
    preview = at_home.post("/companions/new/card/", {"file": as_json(card)})
    refused = at_home.post(preview["Location"], {"greeting": "9" * 5_000})
    assert refused.status_code == 422
    refused = at_home.post(preview["Location"], {})
    assert "20,000" in refused.content.decode()
    assert not Companion.objects.exists()


def test_a_person_looks_at_ten_cards_at_a_time(alice: User) -> None:
    read = read_card(png_of(CARD, picture=drawn(size=(30, 20))))
    for minute in range(12):
        keep_upload(alice, read, b"", timezone.now() + timedelta(minutes=minute))
    assert (CardUpload.objects.count(), StoredFile.objects.count()) == (10, 10)


def test_a_cards_book_counts_among_the_persons_books(at_home: Client, alice: User) -> None:
    Lorebook.objects.bulk_create(Lorebook(user=alice, created_at=timezone.now()) for _ in range(BOOKS_EACH))
    preview = at_home.post("/companions/new/card/", {"file": as_json()})
    refused = at_home.post(preview["Location"], {})
    assert (refused.status_code, Companion.objects.count()) == (422, 0)
    assert "You already have 100 lorebooks" in refused.content.decode()


def test_it_feels_as_it_began_though_its_greetings_are_others_by_now(odessa: Companion) -> None:
    odessa.alternate_greetings = []
    odessa.save()
    odessa.inner_states.all().delete()
    assert "You are late" in first_state.seed(odessa, timezone.now()).text


def test_all_that_is_always_read_is_counted(alice: User) -> None:
    read = read_card(as_json().read())
    note = {**DATA["extensions"]["depth_prompt"], "prompt": "Burn. " * 500}
    longer = read_card(as_json({**CARD, "data": {**DATA, "extensions": {"depth_prompt": note}}}).read())
    few, many = (describe(keep_upload(alice, one, b"", timezone.now())).tokens for one in (read, longer))
    assert many > few + 500


def test_the_boxes_of_other_greetings_are_described_by_their_hint(at_home: Client, odessa: Companion) -> None:
    page = at_home.get(f"/companions/{odessa.pk}/about/").content.decode()
    boxes = re.findall(r"<textarea name=\"alternate_greetings\"[^>]*>", page)
    assert len(boxes) == 3  # two, and one for another
    assert all('aria-describedby="id_alternate_greetings_helptext"' in box for box in boxes)
    assert 'id="id_alternate_greetings_helptext"' in page

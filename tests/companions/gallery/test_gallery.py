"""The gallery: exactly what was shown goes out, operators decide, ages are kept, and a copy stays a copy."""

import json
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils import timezone
from PIL import Image

from accounts.models import User
from companions.deletion import delete_companion
from companions.errors import CompanionsError, GalleryError
from companions.face.portraits import delete_unused_pictures
from companions.gallery import decisions, submission
from companions.gallery.adoption import adopt
from companions.gallery.catalogue import find_entry, preview
from companions.gallery.publication import compose_publication
from companions.models import (
    Card,
    Companion,
    GalleryCharacter,
    GalleryReport,
    GalleryVersion,
    Lorebook,
    ReportedVersion,
)
from companions.transfer.card_export import compose_card
from files.contents import read_content, store_content
from files.models import StoredFile
from safety.models import AuditEntry, Notice
from safety.notices import list_unseen
from tests.companions.gallery.conftest import TERMS, send_in
from tests.files.hostile import drawn
from tests.fixtures.rest import Api, problem
from tests.fixtures.turns import make_companion

pytestmark = pytest.mark.django_db
State = GalleryVersion.State


def body_of(companion: Companion, **more: Any) -> dict[str, Any]:
    return {"companion_id": str(companion.pk), "is_mine": True, **TERMS, **more}


# -- what goes out ----------------------------------------------------------------------------------


def test_the_card_goes_out_and_nothing_else_of_the_person(odessa: Companion, waiting: GalleryVersion) -> None:
    written = json.dumps(waiting.content)
    for told in (
        "keeps a lighthouse",
        "The lamp is out",
        "Never leave the rock.",
        "The harbour froze",
        "Ice",
    ):
        assert told in written
    for private in ("Alice", "alice@example.org", "Mine for all", "unread", "Europe/Berlin", str(odessa.pk)):
        assert private not in written
    assert "waits for {{user}}" in written
    assert waiting.content["data"]["creator"] == "Lantern"


def test_a_name_stays_only_where_it_is_left(odessa: Companion) -> None:
    kept = compose_publication(odessa, keeps_name=True)
    assert "waits for Alice" in kept.content["data"]["description"]
    assert any("the persona" in warning and "the lorebook" in warning for warning in kept.warnings)
    odessa.persona = "Malice and Alices are other words."
    odessa.save(update_fields=["persona"])
    odessa.refresh_from_db()
    assert compose_publication(odessa).content["data"]["description"] == "Malice and Alices are other words."


def test_a_name_is_warned_of_wherever_and_however_it_is_written(alice: User, odessa: Companion) -> None:
    alice.name = "Alice Liddell"
    alice.save()
    Lorebook.objects.filter(companion=odessa).update(name="Notes of LIDDELL's")
    odessa = Companion.objects.get(pk=odessa.pk)
    odessa.scenario = "alice is at the door."
    [told] = [warning for warning in compose_publication(odessa).warnings if "Your name" in warning]
    assert "the lorebook" in told
    assert "the scenario" in told


def test_what_looks_private_is_said_and_the_own_address_refused(odessa: Companion) -> None:
    odessa.scenario = "Call +49 30 1234567."
    told = " ".join(compose_publication(odessa).warnings)
    assert "the scenario" in told
    assert "example dialogue" in told
    odessa.persona = "Writes to ALICE@example.org."
    with pytest.raises(GalleryError) as refused:
        compose_publication(odessa)
    assert refused.value.code == "own_address"
    EmailAddress.objects.create(user=odessa.user, email="rock@example.org")
    odessa.persona = "Write to Rock@Example.org."
    odessa.save()
    with pytest.raises(GalleryError) as refused:
        send_in(odessa)
    assert refused.value.code == "own_address"
    with pytest.raises(GalleryError):
        send_in(make_companion(odessa.user, name="Ann"), summary="Write to alice@example.org.")


def test_a_publisher_has_a_name_that_can_be_read(alice: User, odessa: Companion) -> None:
    for unseen in ("\u200b\u2060", "\u202ehtiK eht"):
        refused = Api(alice).post("/gallery", body_of(odessa, published_as=unseen))
        assert "can be read" in problem(refused, 422, "published_as")["detail"]
    assert not GalleryVersion.objects.exists()


def test_a_note_that_is_none_is_not_published(alice: User, odessa: Companion, client: Client) -> None:
    data = {"data": {"extensions": {"depth_prompt": "Remember the rock."}}}
    Card.objects.create(companion=odessa, content=data, created_at=timezone.now())
    client.force_login(alice)
    assert client.get(f"/companions/{odessa.pk}/settings/publish/").status_code == 200
    assert "depth_prompt" not in compose_publication(odessa).content["data"]["extensions"]


def test_the_page_shows_word_for_word_what_it_sends(alice: User, odessa: Companion, client: Client) -> None:
    client.force_login(alice)
    path = f"/companions/{odessa.pk}/settings/publish/"
    page = client.get(path).content.decode()
    for shown in (
        "waits for {{user}}",
        "Never leave the rock.",
        "The harbour froze",
        "You are late, {{user}}.",
    ):
        assert shown in page
    digest = page.split('name="digest" value="')[1].split('"')[0]
    form = {**TERMS, "tags": "Sea, winter，sea", "is_mine": "on", "digest": digest}
    assert client.post(path, {**form, "is_mine": ""}).status_code == 422
    assert client.post(path, {**form, "published_as": "alice@example.org"}).status_code == 422
    odessa.persona = "Otherwise."
    odessa.save(update_fields=["persona"])
    changed = client.post(path, form)
    assert changed.status_code == 422
    assert "has changed since you looked at it" in changed.content.decode()
    assert not GalleryVersion.objects.exists()
    digest = changed.content.decode().split('name="digest" value="')[1].split('"')[0]
    assert client.post(path, {**form, "digest": digest})["Location"] == "/gallery/mine/"
    version = GalleryVersion.objects.get()
    assert (version.state, version.tags) == ("waiting", ["sea", "winter"])
    assert version.content["data"]["description"] == "Otherwise."


def test_a_companion_of_whom_nothing_is_written_is_not_published(alice: User, client: Client) -> None:
    blank = make_companion(alice, name="Blank", persona="  ", greeting="Hello.")
    problem(Api(alice).post("/gallery", body_of(blank)), 422, "no_character")
    client.force_login(alice)
    page = client.get(f"/companions/{blank.pk}/settings/publish/").content.decode()
    assert "Nobody has written yet who Blank is" in page
    assert f'href="/companions/{blank.pk}/about/#id_persona"' in page
    assert 'name="published_as"' not in page
    blank.scenario = "A harbour in winter."
    blank.save(update_fields=["scenario"])
    assert 'name="published_as"' in client.get(f"/companions/{blank.pk}/settings/publish/").content.decode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("by", ["api", "page"])
def test_a_companion_that_goes_while_it_is_sent_in_is_a_clear_answer(
    by: str, alice: User, odessa: Companion, client: Client
) -> None:
    """It is deleted just before the rows are made: another tab was quicker."""
    gone: list[Companion] = []

    def delete_first(execute: Any, sql: str, *rest: Any) -> Any:
        if not gone and "accounts_user" in sql and "FOR NO KEY UPDATE" in sql:
            gone.append(odessa)
            delete_companion(Companion.objects.get(pk=odessa.pk))
        return execute(sql, *rest)

    client.force_login(alice)
    path = f"/companions/{odessa.pk}/settings/publish/"
    digest = compose_publication(odessa).digest
    with connection.execute_wrapper(delete_first):
        if by == "api":
            problem(Api(alice).post("/gallery", body_of(odessa)), 404, "companion_deleted")
        else:
            form = {**TERMS, "tags": "sea", "is_mine": "on", "digest": digest}
            answer = client.post(path, form, follow=True)
            assert "was deleted a moment ago" in answer.content.decode()
    assert gone
    assert not GalleryCharacter.objects.exists()


def test_what_came_from_the_gallery_is_given_on_under_its_licence_alone(
    bob: User, odessa: Companion, olive: User
) -> None:
    version = send_in(odessa, licence="own-rights")
    decisions.decide(olive, version, State.APPROVED, timezone.now())
    entry = find_entry(bob, version.character_id)
    theirs = Companion.objects.get(pk=adopt(bob, entry, timezone.now(), key=None))
    with pytest.raises(GalleryError) as refused:
        send_in(theirs, licence="CC0-1.0")
    assert refused.value.field == "licence"
    send_in(odessa, licence="CC0-1.0")  # whose it is


# -- decisions --------------------------------------------------------------------------------------


def test_nobody_else_sees_what_is_not_approved(waiting: GalleryVersion, alice: User, mallory: User) -> None:
    path = f"/gallery/{waiting.character_id}"
    for state in (State.WAITING, State.REJECTED, State.TAKEN_DOWN, State.WITHDRAWN, State.REPLACED):
        GalleryVersion.objects.update(state=state)
        for asked in (Api(mallory).get(path), Api(mallory).get(f"{path}/picture")):
            problem(asked, 404, "not_found")
        problem(Api(mallory).post(f"{path}/adopt", {}), 404, "not_found")
        assert str(waiting.character_id) not in Api(mallory).get("/gallery").content.decode()
        assert Api(alice).get(path).status_code == 200
        problem(Api(alice).post(f"{path}/adopt", {}), 409, "not_approved")


def test_the_approved_version_stays_until_the_next_is_approved(
    approved: GalleryVersion, odessa: Companion, olive: User, bob: User
) -> None:
    odessa.persona = "Odessa sails now."
    odessa.save(update_fields=["persona"])
    odessa.refresh_from_db()
    newer = send_in(odessa, line="Cast off.")
    differing = {one.label: one for one in decisions.list_differences(approved, newer)}
    assert set(differing) == {"Description", "A line"}
    path = f"/gallery/{approved.character_id}"
    assert Api(bob).get(path).json()["line"] == "You are late."
    decisions.decide(olive, newer, State.APPROVED, timezone.now(), rating="16")
    problem(Api(bob).get(path), 404, "not_found")  # of whom nobody knows how old he is
    User.objects.filter(pk=bob.pk).update(age_group="16")
    shown = Api(User.objects.get(pk=bob.pk)).get(path).json()
    assert (shown["line"], shown["version"], [one["number"] for one in shown["versions"]]) == (
        *("Cast off.", 2),
        [2, 1],
    )
    approved.refresh_from_db()
    assert approved.state == State.REPLACED


def test_a_refusal_has_a_reason_which_the_publisher_reads(
    waiting: GalleryVersion, alice: User, olive: User, client: Client
) -> None:
    client.force_login(olive)
    page = f"/admin/companions/galleryversion/{waiting.pk}/"
    shown = client.get(f"{page}change/").content.decode()
    for told in ("keeps a lighthouse", "Never leave the rock.", "The harbour froze", "Approve"):
        assert told in shown
    client.post(f"{page}decide/", {"deed": "rejected", "reason": " "})
    waiting.refresh_from_db()
    assert waiting.state == State.WAITING
    client.post(f"{page}decide/", {"deed": "rejected", "reason": "Too much \x00fog."})
    client.post(f"{page}decide/", {"deed": "approved"})  # it does not wait any more
    waiting.refresh_from_db()
    assert (waiting.state, waiting.decided_by) == (State.REJECTED, olive)
    entry = AuditEntry.objects.get(deed="changed")
    assert (entry.object_id, entry.owner, entry.operator) == (str(waiting.pk), alice, olive)
    client.force_login(alice)
    assert "Too much fog." in client.get("/gallery/mine/").content.decode()


def test_a_new_version_is_said_to_replace_only_what_is_in_the_gallery(
    odessa: Companion, waiting: GalleryVersion, olive: User, client: Client
) -> None:
    client.force_login(odessa.user)
    path, stays = f"/companions/{odessa.pk}/settings/publish/", "stays in the gallery until"
    page = client.get(path).content.decode()
    assert "This will be a new version." in page
    assert stays not in page
    decisions.decide(olive, waiting, State.APPROVED, timezone.now())
    assert stays in client.get(path).content.decode()


def test_an_operator_reads_all_that_may_come_of_chance_and_of_what_is_left_out(
    approved: GalleryVersion, odessa: Companion
) -> None:
    odessa.persona = "{{char}} is {{random::kind::cruel}}. {{// to be left out }}{{reverse:terces}}"
    odessa.save()
    sent = send_in(odessa)
    [persona] = [text for text in preview(sent.content).texts if text.name == "persona"]
    assert persona.text == "Odessa is {{random::kind::cruel}}. {{// to be left out }}{{reverse:terces}}"
    assert any(
        "cruel" in piece.text
        for each in decisions.list_differences(approved, sent)
        for line in each.lines
        for piece in line
    )


def test_who_may_not_decide_does_not(waiting: GalleryVersion, mallory: User, client: Client) -> None:
    User.objects.filter(pk=mallory.pk).update(is_staff=True)
    client.force_login(mallory)
    path = f"/admin/companions/galleryversion/{waiting.pk}/decide/"
    assert client.post(path, {"deed": "approved"}).status_code == 403
    waiting.refresh_from_db()
    assert waiting.state == State.WAITING


def test_what_somebody_published_is_not_shown_while_their_account_is_closed(
    approved: GalleryVersion, alice: User, bob: User
) -> None:
    for is_active, shown in ((False, 404), (True, 200)):
        User.objects.filter(pk=alice.pk).update(is_active=is_active)
        assert Api(bob).get(f"/gallery/{approved.character_id}").status_code == shown


def test_a_report_stands_beside_the_character_until_it_is_dealt_with(
    approved: GalleryVersion, alice: User, bob: User, olive: User, client: Client
) -> None:
    path = f"/gallery/{approved.character_id}/report"
    assert Api(bob).post(path, {"kind": "copied", "text": "From my book."}).status_code == 201
    problem(Api(bob).post(path, {"kind": "copied"}), 409, "cannot_report")
    problem(Api(alice).post(path, {"kind": "other"}), 409, "cannot_report")
    client.force_login(olive)
    page = f"/admin/companions/galleryversion/{approved.pk}/"
    assert "From my book." in client.get(f"{page}change/").content.decode()
    assert "1 open report" in client.get("/admin/").content.decode()
    report = f"/admin/companions/galleryreport/{GalleryReport.objects.get().pk}/change/"
    assert f'href="{page}change/"' in client.get(report).content.decode()
    on_record = AuditEntry.objects.filter(deed="changed", object_id=str(approved.pk))
    approvals = on_record.count()
    for _ in range(2):  # the second time there is nothing to settle, nor to record
        client.post(f"{page}decide/", {"deed": "settle"})
    assert on_record.count() == approvals + 1
    assert [notice.kind for notice in list_unseen(bob, timezone.now())] == ["report_settled"]
    GalleryReport.objects.update(settled_at=None)
    client.post(f"{page}decide/", {"deed": "taken_down", "reason": "It is from a book."})
    assert GalleryReport.objects.get().settled_at is not None
    problem(Api(bob).get(f"/gallery/{approved.character_id}"), 404, "not_found")
    assert [notice.kind for notice in list_unseen(bob, timezone.now())] == ["report_settled", "report_upheld"]
    (notice,) = list_unseen(alice, timezone.now())  # one for both decisions
    assert (notice.kind, notice.user) == (Notice.Kind.PUBLICATION, alice)
    client.force_login(alice)
    client.get("/gallery/mine/")  # where the decisions are told
    assert list_unseen(alice, timezone.now()) == []


def test_what_was_reported_stays_with_the_operators_when_its_publisher_deletes_it(
    approved: GalleryVersion, alice: User, bob: User, mallory: User, olive: User, client: Client
) -> None:
    for who, text in ((bob, "From my book."), (mallory, "Mine too.")):
        body = {"kind": "copied", "text": text}
        assert Api(who).post(f"/gallery/{approved.character_id}/report", body).status_code == 201
    client.force_login(alice)
    assert (
        "the operators keep a copy"
        in client.get(f"/gallery/{approved.character_id}/delete/").content.decode()
    )
    client.post(f"/gallery/{approved.character_id}/delete/")
    assert not GalleryVersion.objects.exists()
    assert ReportedVersion.objects.count() == 1  # for both
    assert "keeps a lighthouse" not in Api(alice).get("/gallery/mine").content.decode()
    report = GalleryReport.objects.get(user=bob)
    client.force_login(olive)
    assert "2 open reports" in client.get("/admin/").content.decode()
    page = f"/admin/companions/galleryreport/{report.pk}/"
    shown = client.get(f"{page}change/").content.decode()
    for told in ("From my book.", "bob@example.org", "alice@example.org", "Published as Lantern", "Odessa"):
        assert told in shown
    for told in (
        "keeps a lighthouse",
        "Never leave the rock.",
        "The harbour froze",
        "has since deleted the character",
    ):
        assert told in shown
    client.force_login(mallory)
    assert client.post(f"{page}settle/").status_code in {302, 403}
    client.force_login(olive)
    client.post(f"{page}settle/")
    report.refresh_from_db()
    assert report.settled_at is not None
    assert [notice.kind for notice in list_unseen(bob, timezone.now())] == ["report_settled"]
    client.post(f"{page}settle/")  # there is nothing left to change, nor to record
    assert AuditEntry.objects.filter(deed="changed", object_id=str(report.pk), operator=olive).count() == 1
    alice.delete()  # with her account goes what she wrote, not that it was reported
    assert not ReportedVersion.objects.exists()
    assert "Nothing of what was published" in client.get(f"{page}change/").content.decode()


def test_a_copy_that_nobody_reports_any_more_is_swept(
    approved: GalleryVersion, bob: User, mallory: User
) -> None:
    for who in (bob, mallory):
        Api(who).post(f"/gallery/{approved.character_id}/report", {"kind": "other"})
    bob.delete()
    assert decisions.delete_unreported_copies() == 0
    mallory.delete()
    assert decisions.delete_unreported_copies() == 1


def test_what_is_deleted_meanwhile_is_neither_decided_nor_reported(
    approved: GalleryVersion, bob: User, olive: User
) -> None:
    seen = find_entry(bob, approved.character_id)
    submission.delete_character(GalleryCharacter.objects.get(pk=approved.character_id))
    for act in (
        lambda: decisions.report(bob, seen, "other", "", timezone.now()),
        lambda: decisions.decide(olive, approved, State.TAKEN_DOWN, timezone.now(), reason="Gone."),
        lambda: submission.withdraw(approved.character, timezone.now()),
    ):
        with pytest.raises(GalleryError) as refused:
            act()
        assert refused.value.code == "character_deleted"


# -- ages -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("house", "person", "seen"),
    [
        ("any", "", ["everyone"]),
        ("16", "", ["everyone", "16"]),
        ("adult", "", ["everyone", "16", "adults"]),
        ("adult", "any", ["everyone"]),
        ("adult", "16", ["everyone", "16"]),
        ("any", "adult", ["everyone", "16", "adults"]),
    ],
)
def test_nobody_sees_what_is_for_older_people(
    approved: GalleryVersion,
    bob: User,
    settings: Any,
    client: Client,
    house: str,
    person: str,
    seen: list[str],
) -> None:
    settings.AGES = house
    User.objects.filter(pk=bob.pk).update(age_group=person)
    bob.refresh_from_db()
    client.force_login(bob)
    path = f"/gallery/{approved.character_id}"
    for rating in ("everyone", "16", "adults"):
        GalleryVersion.objects.update(rating=rating)
        code = 200 if rating in seen else 404
        listed = Api(bob).get(f"/gallery?rating={rating}&q=Odessa").json()["items"]
        assert bool(listed) == (rating in seen)
        asked = [
            *(
                client.get(f"{path}/"),
                client.get(f"/gallery/pictures/{approved.pk}/"),
                client.get(f"{path}/report/"),
            ),
            *(Api(bob).get(path), Api(bob).get(f"{path}/picture")),
        ]
        assert {answer.status_code for answer in asked} == {code}, rating
    made = Api(bob).post(f"{path}/adopt", {})
    assert made.status_code == (201 if "adults" in seen else 404)


def test_nobody_publishes_what_they_could_not_see(alice: User, odessa: Companion) -> None:
    problem(Api(alice).post("/gallery", body_of(odessa, rating="adults")), 422, "rating")


@pytest.mark.parametrize(
    "name",
    [
        "Kith",
        "ＫＩＴＨ",
        "K\u0131th",
        "Ki\u200bth.",
        "\u202eK i t h",
        "The Kith team",
        "K\u0456t\u04bb-Support",  # in Cyrillic letters
        "K1th",
        "alice@example.org",
        "alice＠example.org",
    ],
)
def test_nobody_is_called_like_kith_or_an_address(alice: User, odessa: Companion, name: str) -> None:
    problem(Api(alice).post("/gallery", body_of(odessa, published_as=name)), 422, "published_as")


@pytest.mark.parametrize("name", ["Keith", "Judith", "Kit H.", "Nick It Here"])
def test_a_name_of_ones_own_is_no_name_of_kiths(odessa: Companion, name: str) -> None:
    assert send_in(odessa, published_as=name).published_as == name


def test_whoever_decides_about_the_gallery_speaks_for_the_house(olive: User) -> None:
    sent = send_in(make_companion(olive, name="Guide"), published_as="The Kith team")
    assert sent.published_as == "The Kith team"


def test_what_was_taken_down_a_moment_ago_is_not_begun_with(approved: GalleryVersion, bob: User) -> None:
    seen = find_entry(bob, approved.character_id)
    submission.withdraw(approved.character, timezone.now())
    with pytest.raises(GalleryError):
        adopt(bob, seen, timezone.now(), key="one")
    assert not Companion.objects.owned_by(bob).exists()


# -- a companion made of it -------------------------------------------------------------------------


def test_a_copy_is_whole_and_outlives_the_publication(
    odessa: Companion, alice: User, bob: User, olive: User
) -> None:
    file = SimpleUploadedFile("face.png", drawn("PNG"))
    assert Api(alice).form(f"/companions/{odessa.pk}/pictures", {"file": file}).status_code == 201
    sent = Api(alice).post("/gallery", body_of(odessa))
    assert sent.json()["versions"][0]["state"] == "waiting"
    version = GalleryVersion.objects.get()
    decisions.decide(olive, version, State.APPROVED, timezone.now())
    path = f"/gallery/{version.character_id}"
    body = {"name": "Dess", "greeting": 1}
    answers = [Api(bob).post(f"{path}/adopt", body, **{"Idempotency-Key": "once"}) for _tap in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    copied = Companion.objects.owned_by(bob).get()
    assert (copied.name, copied.tint) == ("Dess", 200)
    assert copied.persona == "Odessa keeps a lighthouse and waits for {{user}}."
    assert copied.conversation.head is not None
    assert copied.conversation.head.text == "The lamp is out. Help me."
    assert copied.lorebooks.get().entries.get().data["keys"] == ["harbour"]
    card = compose_card(copied)["data"]
    assert (card["creator"], card["extensions"]["kith"]["gallery"]["licence"]) == ("Lantern", "CC-BY-4.0")
    kept = copied.pictures.get().file
    assert kept.user == bob
    delete_companion(odessa)
    assert Api(bob).get(path).status_code == 200  # what was published stays, as was said
    alice.delete()
    problem(Api(bob).get(path), 404, "not_found")
    assert not StoredFile.objects.filter(kind="gallery").exists()
    with Image.open(BytesIO(read_content(kept))) as image:
        assert image.format == "WEBP"


def test_it_is_withdrawn_at_any_time_and_deleted_for_good(
    approved: GalleryVersion, alice: User, bob: User
) -> None:
    path = f"/gallery/{approved.character_id}"
    for method, where in (("DELETE", path), ("POST", f"{path}/report")):
        code = Api(bob).call(method, where, {"kind": "other"}).status_code
        assert code == (404 if method == "DELETE" else 201)
    assert Api(alice).call("DELETE", path).status_code == 204
    problem(Api(bob).get(path), 404, "not_found")
    assert Api(alice).get("/gallery/mine").json()["items"][0]["versions"][0]["state"] == "withdrawn"
    client = Client()
    client.force_login(alice)
    client.post(f"{path}/delete/")
    assert not GalleryCharacter.objects.exists()


# -- Kith's own, and the house ----------------------------------------------------------------------


def test_kiths_own_come_last_and_bring_their_lore(alice: User, bob: User, approved: GalleryVersion) -> None:
    items = Api(alice).get("/gallery").json()["items"]
    assert [item["published_as"] for item in items] == ["Lantern"] + [""] * 12
    marlow = next(item for item in items if item["name"] == "Marlow")
    shown = Api(alice).get(f"/gallery/{marlow['id']}").json()
    assert len(shown["card"]["entries"]) == 6
    assert Api(alice).post(f"/gallery/{marlow['id']}/adopt", {"greeting": 2}).status_code == 201
    companion = Companion.objects.get(name="Marlow")
    assert companion.greeting.startswith("Tickets, please.")
    assert companion.lorebooks.get().entries.count() == 6
    names = {item["name"] for item in Api(bob).get("/gallery?language=zh").json()["items"]}
    assert "老周" in names
    assert len(names) == 12
    items = Api(alice).get("/gallery?language=zh&q=夜车").json()["items"]
    assert Api(alice).get(f"/gallery/{items[0]['id']}").json()["name"] == "老周"
    client = Client()
    client.force_login(bob)
    form = {"key": "one\x00", "name": "Mar\x00low"}
    started = [client.post(f"/gallery/{items[0]['id']}/", form)["Location"] for _tap in range(2)]
    assert started[0] == started[1]
    found = Api(bob).get("/gallery?q=lighthouse").json()["items"]
    assert [item["name"] for item in found] == ["Odessa"]
    assert [item["name"] for item in Api(bob).get("/gallery?tag=sea").json()["items"]] == ["Odessa"]


def test_a_closed_gallery_is_not_there_but_what_is_mine_can_go(
    approved: GalleryVersion, alice: User, odessa: Companion, settings: Any, client: Client
) -> None:
    settings.GALLERY = False
    client.force_login(alice)
    path = f"/gallery/{approved.character_id}"
    for closed in ("/gallery/", f"{path}/", f"{path}/report/", f"/companions/{odessa.pk}/settings/publish/"):
        assert client.get(closed).status_code == 404
    for page in ("/companions/new/", f"/companions/{odessa.pk}/settings/"):
        assert (
            "/gallery/"
            not in client.get(page).content.decode().split("To confirm")[0].split('id="arrivals"')[0]
        )
    for asked in (Api(alice).get("/gallery"), Api(alice).post("/gallery", body_of(odessa))):
        problem(asked, 404, "not_found")
    assert client.get("/gallery/mine/").status_code == 200
    assert client.post(f"{path}/withdraw/").status_code == 302


def test_there_are_bounds(alice: User, odessa: Companion, settings: Any) -> None:
    settings.GALLERY_CHARACTERS_EACH = 1
    for number in range(submission.VERSIONS_KEPT + 3):
        send_in(odessa, line=f"{number}")
    assert GalleryVersion.objects.count() == submission.VERSIONS_KEPT
    assert GalleryVersion.objects.filter(state=State.WAITING).count() == 1
    with pytest.raises(CompanionsError) as refused:
        send_in(make_companion(alice, name="Another"))
    assert refused.value.code == "too_many_published"
    settings.LIMITS, settings.RATES = True, {**settings.RATES, "publications": [(1, 3600)]}
    codes = [Api(alice).post("/gallery", body_of(odessa)).status_code for _time in range(2)]
    assert codes == [201, 429]


def test_a_picture_of_no_version_is_swept(alice: User) -> None:
    old = timezone.now() - timedelta(hours=2)
    store_content(alice, drawn("WEBP"), StoredFile.Kind.GALLERY, "image/webp", old)
    assert delete_unused_pictures(timezone.now()) == 1

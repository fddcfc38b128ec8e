"""Pictures in a talk: kept apart, sent with a message, told to the model by name, and gone with their message."""

import errno
import tempfile
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import orjson
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import AsyncClient, Client
from django.utils import timezone

from accounts.models import User
from companions.branches.operations import say_anew
from companions.conversations.attached_texts import load_texts
from companions.conversations.attachments import (
    MAX_ATTACHMENTS,
    clean_name,
    keep_picture,
    keep_text,
    remove,
    sweep_attachments,
)
from companions.deletion import delete_message, forget
from companions.errors import AttachmentError, ConflictError
from companions.models import Attachment, Companion, Message, Prompt, Reply
from companions.replies.lifecycle import Started
from companions.replies.turn import start_with
from companions.transfer.json_export import EXPORTED
from files.models import StoredFile
from files.pictures import Drawn
from jobs.background import in_thread
from memory.models import Document, Memory, Page
from memory.store import keep_fact
from tests.companions.face.paintings import SCRIPTED, painted, polyglot, vast
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.rest import Api
from tests.fixtures.turns import connected


async def upload(client: AsyncClient, companion: Companion, content: bytes, name: str = "cat.png") -> Any:
    form = {"file": SimpleUploadedFile(name, content, "image/png")}
    return await client.post(f"/companions/{companion.pk}/attachments/add/", form)


def keep(companion: Companion, name: str = "cat.png") -> Attachment:
    return keep_picture(companion, Drawn(painted("WEBP"), 40, 30), name, timezone.now())


def send(companion: Companion, *attachments: Attachment, text: str = "Look", client_id: str = "1") -> Started:
    begin = start_with([attachment.pk for attachment in attachments])
    return begin(companion, text, client_id, timezone.now(), at_once=False)


@pytest.mark.django_db(transaction=True)
async def test_a_picture_for_which_the_temporary_folder_has_no_room_is_refused_as_such(
    alice: User, mira: Companion, async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", Mock(side_effect=OSError(errno.ENOSPC, "No space left")))
    await async_client.aforce_login(alice)
    refused = await upload(async_client, mira, painted())
    assert (refused.status_code, refused.json()["code"]) == (503, "storage_away")
    assert "The disk of this Kith is full" in refused.json()["detail"]


@pytest.mark.django_db(transaction=True)
async def test_a_picture_goes_with_its_message_and_the_model_is_told_its_name(
    rehearsal: RehearsalServer, web: None, alice: User, bob: User, mira: Companion, async_client: AsyncClient
) -> None:
    await async_client.aforce_login(alice)
    made = orjson.loads((await upload(async_client, mira, polyglot(), "a/b\\my cat.gif")).content)
    assert (made["name"], made["message_id"]) == ("my cat.gif", None)
    rehearsal.script({"answer": "I cannot see it."}, {"answer": "As I said."})
    async with connected(alice, mira) as socket:
        for _ in range(2):  # sent again under the same id it is the same
            await socket.send("message.send", text="Look", client_id="1", attachments=[made["id"]])
        await socket.until("reply.done")
        await socket.send("message.send", text="And?", client_id="2")
        await socket.until("reply.done")
    message = await Message.objects.aget(client_id="1")
    assert (await Attachment.objects.aget()).message_id == message.pk
    first, second = (request["messages"] for request in rehearsal.requests()[-2:])
    for asked in (
        first[-1],
        second[1],
    ):
        assert 'pictures that you cannot see, only their file names: "my cat.gif"' in str(asked)
    page = await async_client.get(f"/companions/{mira.pk}/")
    assert f'<img src="{made["url"]}" alt="my cat.gif"' in page.content.decode()
    assert (await async_client.get(made["url"]))["Content-Type"] == "image/webp"
    await async_client.aforce_login(bob)
    for path in (made["url"], f"/companions/{mira.pk}/attachments/{made['id']}/delete/"):
        response = await (async_client.get if path == made["url"] else async_client.post)(path)
        assert response.status_code == 404
    assert (await upload(async_client, mira, painted())).status_code == 404


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("name", "make", "status", "words"),
    [
        ("a.svg", lambda: SCRIPTED, 422, "Attach a picture (PNG, JPEG, WebP, GIF) or a plain text"),
        ("a.html", lambda: b"<html><script>alert(1)</script></html>", 422, "Kith cannot read this file"),
        ("cat.png", lambda: painted()[:60], 422, "This is not a picture"),
        ("cat.png", lambda: b"", 422, "This file is empty."),
        ("cat.png", lambda: painted() + bytes(10_000_000), 413, "at most 10 MB"),
        ("cat.png", vast, 413, "at most 40 million pixels"),
        ("a.txt", lambda: b"\x00\x01" * 50, 422, "Kith cannot read this file"),
        ("a.md", lambda: b"word " * 1_700_000, 413, "2,000,000 characters"),
    ],
    ids=["svg", "html", "broken", "empty", "too large", "too many pixels", "no text", "too long"],
)
async def test_what_breaks_a_limit_is_refused_in_a_sentence(
    alice: User,
    mira: Companion,
    async_client: AsyncClient,
    name: str,
    make: Callable[[], bytes],
    status: int,
    words: str,
) -> None:
    await async_client.aforce_login(alice)
    response = await upload(async_client, mira, make(), name)
    assert response.status_code == status
    assert words in orjson.loads(response.content)["detail"]
    assert not await StoredFile.objects.aexists()


@pytest.mark.django_db
def test_a_message_has_six_pictures_at_most_each_sent_once_and_its_own(
    mira: Companion, tian: Companion
) -> None:
    many = [keep(mira) for _ in range(MAX_ATTACHMENTS + 1)]
    with pytest.raises(AttachmentError, match="too_many_attachments"):
        send(mira, *many)
    with pytest.raises(AttachmentError, match="no_such_attachment"):
        send(mira, keep(tian))
    message = send(mira, many[0]).message
    assert send(mira, many[0]).message == message
    with pytest.raises(ConflictError):
        send(mira, many[0], client_id="2")


@pytest.mark.django_db
def test_a_message_that_is_sent_again_takes_no_other_file(mira: Companion) -> None:
    first, other = keep(mira), keep(mira)
    message = send(mira, first).message
    assert send(mira, first).message == message
    with pytest.raises(ConflictError):
        send(mira, first, other)
    assert list(message.attachments.all()) == [first]
    assert Message.objects.filter(role="user").count() == 1


@pytest.mark.django_db
def test_a_picture_goes_with_its_message_whether_deleted_or_forgotten(mira: Companion) -> None:
    deleted, forgotten = (send(mira, keep(mira), client_id=id).message for id in "12")
    delete_message(deleted, timezone.now())
    assert list(Attachment.objects.values_list("message", flat=True)) == [forgotten.pk]
    forget(forgotten.memory, timezone.now())
    assert Message.objects.get(pk=forgotten.pk).is_hidden
    assert not Attachment.objects.exists()
    assert not StoredFile.objects.exists()


@pytest.mark.django_db
def test_what_is_said_in_its_place_has_its_files_until_both_are_gone(mira: Companion) -> None:
    first = send(mira, keep(mira))
    first.message.replies.update(state=Reply.State.DONE)
    anew = say_anew(first.message)(mira, "And this?", None, timezone.now(), at_once=False).message
    assert [one.name for one in anew.attachments.all()] == ["cat.png"]
    assert sweep_attachments(timezone.now() + timedelta(days=2)) == 0
    delete_message(anew, timezone.now())
    file = StoredFile.objects.get()
    assert Message.everywhere.get(pk=first.message.pk).attachments.get().file == file
    delete_message(Message.everywhere.get(pk=first.message.pk), timezone.now())
    assert not StoredFile.objects.exists()


@pytest.mark.django_db
def test_a_picture_that_is_deleted_is_gone_on_every_branch(mira: Companion) -> None:
    first = send(mira, keep(mira))
    first.message.replies.update(state=Reply.State.DONE)
    say_anew(first.message)(mira, "And this?", None, timezone.now(), at_once=False)
    remove(Attachment.objects.earliest("created_at"), timezone.now())
    assert not Attachment.objects.exists()
    assert not StoredFile.objects.exists()


@pytest.mark.django_db
def test_what_another_tab_has_sent_stays_with_its_message(client: Client, mira: Companion) -> None:
    sent, unsent = keep(mira), keep(mira)
    send(mira, sent)
    client.force_login(mira.user)
    for attachment in (sent, unsent):
        path = f"/companions/{mira.pk}/attachments/{attachment.pk}/delete/"
        assert client.post(path).status_code == 204
    assert list(Attachment.objects.all()) == [sent]


@pytest.mark.django_db
def test_what_is_not_sent_within_a_day_goes(mira: Companion) -> None:
    sent, unsent = keep(mira), keep(mira)
    send(mira, sent)
    lone = keep(mira)
    Attachment.objects.filter(pk=lone.pk)._raw_delete("default")  # its process died before
    assert sweep_attachments(timezone.now()) == 0
    assert sweep_attachments(timezone.now() + timedelta(days=1, minutes=1)) == 2
    assert list(Attachment.objects.all()) == [sent]
    assert unsent.pk != sent.pk
    assert StoredFile.objects.get().pk == sent.file_id


@pytest.mark.django_db(transaction=True)
async def test_a_text_is_read_as_a_document_and_stays_where_its_message_goes(
    rehearsal: RehearsalServer, web: None, alice: User, mira: Companion, async_client: AsyncClient
) -> None:
    await async_client.aforce_login(alice)
    made = orjson.loads(
        (await upload(async_client, mira, b"# Trams\n\nThey run at night.", "trams.md")).content
    )
    assert (made["file_id"], made["url"]) == (None, f"/companions/{mira.pk}/documents/{made['document_id']}/")
    rehearsal.script({"answer": "I am reading it."}, {"answer": "At night."}, {"answer": "Trams?"})
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="Read this", client_id="1", attachments=[made["id"]])
        await socket.until("reply.done")
        await socket.send("message.send", text="So when?", client_id="2")
        await socket.until("reply.done")
        await Message.objects.filter(client_id="1").aupdate(is_hidden=True)
        await socket.send("message.send", text="And else?", client_id="3")
        await socket.until("reply.done")
    *with_it, without = [request["messages"][-1]["content"] for request in rehearsal.requests()[-3:]]
    for told in with_it:
        assert '<kith-texts>\n- "trams.md": "# Trams\\n\\nThey run at night."\n</kith-texts>' in told
    assert "<kith-texts>" not in without
    assert (
        await Prompt.objects.filter(shown__contains=[made["document_id"]]).acount() == 2
    )  # found when it is deleted
    page = (await async_client.get(f"/companions/{mira.pk}/")).content.decode()
    assert f'<a class="file-text" href="{made["url"]}">' in page
    document = await Document.objects.aget()
    assert document.title == "trams"
    await in_thread(delete_message, await Message.objects.aget(client_id="1"), timezone.now())
    assert not await Attachment.objects.aexists()
    assert await Document.objects.aexists()
    again = orjson.loads((await upload(async_client, mira, b"Other words", "b.txt")).content)
    await async_client.post(f"/companions/{mira.pk}/attachments/{again['id']}/delete/")
    assert await Document.objects.acount() == 1  # what was not sent is taken back


@pytest.mark.django_db
def test_a_texts_pages_that_are_kept_from_models_are_in_no_prompt(mira: Companion) -> None:
    now = timezone.now()
    message = send(mira, keep_text(mira, b"They run at night.", "trams.md", now)).message
    [shown] = load_texts(mira.pk, [message.pk], 9)
    assert shown.text == "They run at night."
    gist = keep_fact(mira.pk, "Trams run at night.", now, now)
    Page.objects.update(memory=gist)
    Memory.objects.filter(pk=gist.pk).update(is_private=True)
    assert load_texts(mira.pk, [message.pk], 9) == []


@pytest.mark.django_db
def test_pictures_are_exported_listed_and_deleted_by_programs(as_alice: Api, mira: Companion) -> None:
    assert EXPORTED["attachments"] == (Attachment, "companion")
    attachment = keep(mira)
    path = f"/companions/{mira.pk}/attachments"
    [listed] = as_alice.get(path).json()["items"]
    assert (listed["id"], listed["name"], listed["message_id"]) == (str(attachment.pk), "cat.png", None)
    assert as_alice.call("DELETE", f"{path}/{attachment.pk}").status_code == 204
    assert not StoredFile.objects.exists()


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("C:\\pictures\\me.png", "me.png"),
        ("../../etc/passwd", "passwd"),
        ("a\u202egnp.exe\n\x00b", "agnp.exeb"),
        ("", "picture"),
        ("\ud800", "picture"),
        ("x" * 300 + ".png", "x" * 107 + "…" + "x" * 8 + ".png"),
    ],
)
def test_a_hostile_name_becomes_a_plain_one(name: str, seen: str) -> None:
    assert clean_name(name) == seen

"""Documents over REST: given as JSON or as a file, listed, read, looked up and deleted; what is none is refused."""

import errno
import io
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from companions.models import Companion, Prompt, Reply
from companions.replies.lifecycle import start
from config.http.asgi_layers import BodyLimit
from jobs.lease import MAX_ATTEMPTS
from memory.documents import intake
from memory.documents.gists import write_gists
from memory.models import Document, Memory, Page
from tests.fixtures.rest import Api, problem

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]
TEXT = "They walked along the river until the lamps were lit. " * 120  # 1,200 words


def path(companion: Companion, *more: object) -> str:
    return "/".join([f"/companions/{companion.pk}/documents", *map(str, more)])


def upload(api: Api, companion: Companion, name: str, held: bytes, **fields: str) -> Any:
    data = {"file": SimpleUploadedFile(name, held), **fields}
    return Client().post(f"/api/v1{path(companion)}", data, headers=api.headers)


def write_all(document_id: object) -> None:
    while write_gists(document_id, timezone.now()):  # type: ignore[arg-type]
        pass


@pytest.mark.usefixtures("rehearsal")
def test_a_text_is_given_and_its_progress_seen(as_alice: Api, mira: Companion) -> None:
    response = as_alice.post(path(mira), {"title": "The river", "text": TEXT})
    assert response.status_code == 201
    given = response.json()
    assert (given["title"], given["characters"], given["state"], given["done"]) == (
        "The river",
        len(TEXT),
        "waiting",
        0,
    )
    write_all(given["id"])
    seen = as_alice.get(path(mira, given["id"])).json()
    assert (seen["state"], seen["done"], seen["error"]) == ("done", given["total"], None)
    assert [one["id"] for one in as_alice.get(path(mira)).json()["items"]] == [given["id"]]


def test_a_document_that_fails_says_so(as_alice: Api, mira: Companion) -> None:
    given = as_alice.post(path(mira), {"title": "The river", "text": TEXT}).json()
    Document.objects.update(
        attempts=MAX_ATTEMPTS, error="malformed_answer", next_at=timezone.now() + timedelta(hours=1)
    )
    seen = as_alice.get(path(mira, given["id"])).json()
    assert (seen["state"], seen["error"]) == ("failed", "malformed_answer")


def test_pages_come_by_cursor_and_joined_are_the_text(as_alice: Api, mira: Companion) -> None:
    given = as_alice.post(path(mira), {"title": "The river", "text": TEXT * 3}).json()
    pages, cursor = [], ""
    while cursor is not None:
        answer = as_alice.get(
            path(mira, given["id"], f"pages?limit=2{cursor and f'&cursor={cursor}'}")
        ).json()
        pages += answer["items"]
        cursor = answer["next"]
    assert "".join(page["text"] for page in pages) == TEXT * 3
    assert len(pages) == given["total"]
    problem(as_alice.get(path(mira, given["id"], "pages?cursor=x")), 422, "bad_cursor")


def test_a_document_sent_twice_with_one_key_is_kept_once(as_alice: Api, mira: Companion) -> None:
    body = {"title": "The river", "text": TEXT}
    ids = {as_alice.post(path(mira), body, **{"Idempotency-Key": "k"}).json()["id"] for _ in range(2)}
    assert len(ids) == Document.objects.count() == 1
    other = as_alice.post(path(mira), {**body, "title": "Other"}, **{"Idempotency-Key": "k"})
    problem(other, 409, "idempotency_key_taken")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "gb18030"])
def test_a_file_is_read_whatever_it_is_called(as_alice: Api, mira: Companion, encoding: str) -> None:
    text = "天黑了，他们还在河边走。\n" * 40
    response = upload(as_alice, mira, "河.exe", text.encode(encoding))
    assert response.status_code == 201, response.content
    assert response.json()["title"] == "河"
    assert "".join(Page.objects.order_by("number").values_list("text", flat=True)) == text


BAD_FILES = {
    "no bytes": (b"", "A book", 422, "empty_document"),
    "binary": (b"\x7fELF\x00\x01\x02", "A book", 422, "not_text"),
    "a PDF called text": (b"%PDF-1.4 ...", "A book", 422, "not_text"),
    "half a character": ("é".encode()[:1] * 3, "A book", 422, "not_text"),
    "blanks": (b" \n" * 40, "A book", 422, "empty_document"),
    "a title with control characters": (b"A text.", "A\x07book", 422, "bad_title"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_refused_and_nothing_kept(as_alice: Api, mira: Companion, name: str) -> None:
    held, title, status, code = BAD_FILES[name]
    problem(upload(as_alice, mira, "book.txt", held, title=title), status, code)
    assert not Document.objects.exists()
    assert not Page.objects.exists()


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "bad_request"),
        (b"{", 400, "bad_request"),
        ({"title": "A"}, 422, "not_valid"),
        ({"title": 3, "text": []}, 422, "not_valid"),
        ({"title": "A", "text": ""}, 422, "empty_document"),
        ({"title": "A\nB", "text": "x"}, 422, "bad_title"),
        ({"title": "A", "text": "x\x00"}, 422, "not_text"),
    ],
)
def test_a_bad_body_is_refused(as_alice: Api, mira: Companion, body: object, status: int, code: str) -> None:
    told = problem(as_alice.post(path(mira), body), status, code)
    assert not Document.objects.exists()
    assert ("errors" in told) == (code == "not_valid")


def test_each_invalid_value_of_a_document_is_named(as_alice: Api, mira: Companion) -> None:
    told = problem(as_alice.post(path(mira), {"text": 3}), 422, "not_valid")
    assert [wrong["where"] for wrong in told["errors"]] == ["body.title", "body.text"]


def test_a_form_without_a_file_is_refused(as_alice: Api, mira: Companion) -> None:
    response = Client().post(f"/api/v1{path(mira)}", {"title": "A"}, headers=as_alice.headers)
    problem(response, 422, "no_file")


def test_a_text_that_is_too_long_is_refused(
    as_alice: Api, mira: Companion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MAX_CHARACTERS", 100)
    problem(as_alice.post(path(mira), {"title": "A", "text": TEXT}), 413, "document_too_large")


def test_a_person_gives_only_so_many_a_minute(as_alice: Api, mira: Companion, settings: Settings) -> None:
    settings.RATES = {"documents": [(0, 60)]}
    response = as_alice.post(path(mira), {"title": "A", "text": TEXT})
    problem(response, 429, "too_many_documents_a_minute")
    assert 1 <= int(response["Retry-After"]) <= 60
    assert not Document.objects.exists()


class Untouchable(io.RawIOBase):
    """A body that must not be read."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        raise AssertionError("It was read.")


def test_a_gigabyte_is_refused_by_its_declared_length_before_it_is_read(
    as_alice: Api, mira: Companion
) -> None:
    told = {
        "CONTENT_LENGTH": 10**9,
        "CONTENT_TYPE": "multipart/form-data; boundary=x",
        "wsgi.input": Untouchable(),
    }
    response = Client().post(f"/api/v1{path(mira)}", headers=as_alice.headers, **told)
    problem(response, 413, "too_large")


async def _given_to(limit: BodyLimit, headers: list[tuple[bytes, bytes]]) -> tuple[list[dict[str, Any]], int]:
    """What is answered to a request without end, and how many megabytes of it were asked for."""
    sent, asked = [], 0

    async def receive() -> dict[str, Any]:
        nonlocal asked
        asked += 1
        return {"type": "http.request", "body": b"x" * 1_000_000, "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    await limit({"type": "http", "headers": headers}, receive, send)
    return sent, asked


async def _reads_on(scope: Any, receive: Any, send: Any) -> None:
    while True:
        await receive()


@pytest.mark.asyncio
@pytest.mark.parametrize(("headers", "most"), [([(b"content-length", b"1000000000")], 0), ([], 22)])
async def test_no_more_of_a_gigabyte_comes_in_than_a_request_may_hold(
    headers: list[tuple[bytes, bytes]], most: int
) -> None:
    """Neither where its length is told, nor where it comes in pieces without one."""
    sent, asked = await _given_to(BodyLimit(_reads_on), headers)
    assert sent[0]["status"] == 413
    assert asked <= most


@pytest.mark.asyncio
async def test_a_body_for_which_the_temporary_folder_has_no_room_is_answered_so() -> None:
    async def write_on(_scope: Any, _receive: Any, _send: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    sent, _asked = await _given_to(BodyLimit(write_on), [])
    assert sent[0]["status"] == 503
    assert b"The disk of this Kith is full" in sent[1]["body"]


@pytest.mark.usefixtures("rehearsal")
def test_a_question_is_answered_with_pages(as_alice: Api, mira: Companion) -> None:
    text = TEXT + "\n\nIn the cellar Ysolde found a crate of letters.\n\n" + TEXT
    given = as_alice.post(path(mira), {"title": "The river", "text": text}).json()
    write_all(given["id"])
    answer = as_alice.post(
        f"/companions/{mira.pk}/look-up", {"question": "Where were Ysolde's letters?", "limit": 1}
    )
    [found] = answer.json()["results"]
    assert "crate of letters" in found["text"]
    assert (found["title"], found["document_id"]) == ("The river", given["id"])


@pytest.mark.parametrize("body", [{}, {"question": ""}, {"question": " "}, {"question": "a", "limit": 7}])
def test_a_bad_question_is_refused(as_alice: Api, mira: Companion, body: object) -> None:
    problem(as_alice.post(f"/companions/{mira.pk}/look-up", body), 422, "not_valid")


@pytest.mark.usefixtures("rehearsal")
def test_deleted_it_is_gone_with_its_memories_and_from_prompts(as_alice: Api, mira: Companion) -> None:
    given = as_alice.post(path(mira), {"title": "The river", "text": TEXT}).json()
    write_all(given["id"])
    memory = Memory.objects.filter(kind="gist").first()
    assert memory is not None
    started = start(mira, "Hello", None, timezone.now())
    Prompt.objects.create(
        companion=mira, reply=started.reply, messages=[], shown=[memory.pk], created_at=timezone.now()
    )
    Reply.objects.filter(pk=started.reply.pk).update(thought="The river", ended_at=timezone.now())
    assert as_alice.call("DELETE", path(mira, given["id"])).status_code == 204
    assert not Document.objects.exists()
    assert not Page.objects.exists()
    assert not Memory.objects.filter(kind="gist").exists()
    assert not Prompt.objects.exists()
    assert Reply.objects.get(pk=started.reply.pk).thought == ""

"""What a companion was given to read: given, followed, read, asked about and deleted on pages."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from companions.memories.editing import give_document
from companions.models import Companion
from memory.documents.gists import write_gists
from memory.models import Document

pytestmark = pytest.mark.usefixtures("module_mira")
TEXT = "They walked along the river until the lamps were lit. " * 70


def path(companion: Companion, rest: str = "") -> str:
    return f"/companions/{companion.pk}/documents/{rest}"


def test_an_empty_page_says_what_may_be_given(at_home: Client, mira: Companion) -> None:
    page = at_home.get(path(mira)).content.decode()
    assert "Give Mira a long text" in page


@pytest.mark.usefixtures("rehearsal")
def test_a_text_is_pasted_and_its_progress_followed_to_the_end(at_home: Client, mira: Companion) -> None:
    response = at_home.post(path(mira, "give/"), {"title": "The river", "text": TEXT})
    document = Document.objects.get()
    assert response["Location"] == path(mira, f"{document.pk}/")
    waiting = at_home.get(
        path(mira), headers={"HX-Request": "true", "HX-Target": "documents"}
    ).content.decode()
    assert "gists written: 0 of 2" in waiting
    assert "every 5s" in waiting
    while write_gists(document.pk, timezone.now()):
        pass
    done = at_home.get(path(mira)).content.decode()
    assert "2 pages" in done
    assert "every 5s" not in done
    read = at_home.get(path(mira, f"{document.pk}/")).content.decode()
    assert "until the lamps were lit" in read
    assert "not been written yet" not in read
    asked = at_home.get(path(mira), {"q": "When were the lamps lit?"}).content.decode()
    assert "The river, page 1" in asked


def test_a_file_is_given_without_a_title(at_home: Client, mira: Companion) -> None:
    at_home.post(path(mira, "give/"), {"file": SimpleUploadedFile("notes.md", b"# Notes\n\nA text.")})
    assert Document.objects.get().title == "notes"


@pytest.mark.parametrize(
    ("title", "text", "file", "told"),
    [
        ("A", "", None, "nothing in it to read"),
        ("", "A text", None, "1 to 200 characters"),
        ("A", "", b"", "The file is empty"),
        ("A", "", b"\x7fELF\x00", "Kith cannot read this file"),
    ],
)
def test_what_cannot_be_read_is_told_in_the_form(
    at_home: Client, mira: Companion, title: str, text: str, file: bytes | None, told: str
) -> None:
    data: dict[str, object] = {"title": title, "text": text}
    if file is not None:
        data["file"] = SimpleUploadedFile("a.txt", file)
    response = at_home.post(path(mira, "give/"), data)
    assert response.status_code == 422
    assert told in response.content.decode()
    assert not Document.objects.exists()


def test_deleted_after_a_question(at_home: Client, mira: Companion) -> None:
    document = give_document(mira, "The river", TEXT, timezone.now())
    assert "Delete this document?" in at_home.get(path(mira, f"{document.pk}/delete/")).content.decode()
    assert Document.objects.exists()
    assert at_home.post(path(mira, f"{document.pk}/delete/"))["Location"] == path(mira)
    assert not Document.objects.exists()


@pytest.mark.parametrize("question", ["\x00", "?" * 5000, "'; DROP"])
def test_anything_may_be_asked(at_home: Client, mira: Companion, question: str) -> None:
    assert at_home.get(path(mira), {"q": question}).status_code == 200


@pytest.mark.parametrize("number", ["x", "-1", "999999999999999999999"])
def test_a_page_that_there_is_not_is_the_nearest(at_home: Client, mira: Companion, number: str) -> None:
    document = give_document(mira, "The river", TEXT, timezone.now())
    assert at_home.get(path(mira, f"{document.pk}/"), {"page": number}).status_code == 200

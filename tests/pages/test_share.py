"""What another app shares: one's own companions to choose from, each with the text for its composer, and nothing sent."""

from urllib.parse import unquote

import pytest
from django.conf import settings
from django.test import Client

from companions.models import Companion, Message

PATH = "/share/"


def drafts(page: str) -> list[str]:
    """The texts that the links hand over, behind the # that no server is told of."""
    return [unquote(part.split('"')[0]) for part in page.split("#draft=")[1:]]


def test_one_chooses_among_ones_own(at_home: Client, mira: Companion, tian: Companion) -> None:
    page = at_home.get(PATH, {"title": "A train", "text": "Look & see", "url": "https://example.org/?a=1#b"})
    assert drafts(page.content.decode()) == ["A train\nLook & see\nhttps://example.org/?a=1#b"]
    assert f'href="/companions/{mira.pk}/#draft=' in page.content.decode()
    assert str(tian.pk) not in page.content.decode()
    assert not Message.objects.exists()


@pytest.mark.parametrize(
    ("given", "draft"),
    [
        ({"text": "See https://example.org/", "url": "https://example.org/"}, "See https://example.org/"),
        ({"text": " <script>alert(1)</script> "}, "<script>alert(1)</script>"),
        ({"text": "a\x00b"}, "ab"),
        ({"text": "🎐" * 40_000}, "🎐" * settings.MESSAGE_CHARACTERS),
    ],
)
def test_hostile_and_doubled_texts(
    at_home: Client, mira: Companion, given: dict[str, str], draft: str
) -> None:
    page = at_home.get(PATH, given).content.decode()
    assert drafts(page) == [draft]
    assert "<script>alert" not in page


@pytest.mark.parametrize("given", [{}, {"text": "  "}, {"other": "x"}])
def test_nothing_shared_is_said(at_home: Client, mira: Companion, given: dict[str, str]) -> None:
    assert "Nothing was shared" in at_home.get(PATH, given).content.decode()


def test_without_a_companion_one_is_made_first(at_home: Client) -> None:
    assert "/companions/new/" in at_home.get(PATH, {"text": "Hello"}).content.decode()

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from cards.lorebooks import normalise_book
from companions.gallery import decisions, submission
from companions.gallery.publication import compose_publication
from companions.gallery.submission import Terms
from companions.lore.editing import make_book
from companions.models import Companion, GalleryVersion
from tests.fixtures.turns import make_companion

TERMS: dict[str, Any] = {
    "published_as": "Lantern",
    "line": "You are late.",
    "summary": "Keeps a lighthouse.",
    "tags": ["sea", "winter"],
    "language": "en",
    "licence": "CC-BY-4.0",
    "rating": "everyone",
}


@pytest.fixture
def odessa(alice: User) -> Companion:
    """Alice's: with a lorebook of its own, and her name where she did not think of it."""
    companion = make_companion(
        alice,
        name="Odessa",
        persona="Odessa keeps a lighthouse and waits for Alice.",
        greeting="You are late, {{user}}.",
        alternate_greetings=["The lamp is out. Help me."],
        example_dialogue="{{user}}: Hello?\n{{char}}: Door.",
        post_history_instructions="Never leave the rock.",
        tint=200,
    )
    entries = [{"keys": ["harbour"], "content": "The harbour froze when Alice came.", "comment": "Ice"}]
    make_book(
        alice,
        normalise_book({"name": "The rock", "entries": entries, "theirs": "unread"}),
        timezone.now(),
        companion=companion,
    )
    make_book(alice, normalise_book({"name": "Mine for all", "entries": []}), timezone.now())
    return companion


def send_in(companion: Companion, **terms: Any) -> GalleryVersion:
    publication = compose_publication(companion)
    return submission.submit(companion, publication, Terms(**{**TERMS, **terms}), None, timezone.now())


@pytest.fixture
def waiting(odessa: Companion) -> GalleryVersion:
    return send_in(odessa)


@pytest.fixture
def approved(waiting: GalleryVersion, olive: User) -> GalleryVersion:
    decisions.decide(olive, waiting, GalleryVersion.State.APPROVED, timezone.now())
    return waiting

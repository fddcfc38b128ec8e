"""What people have published, for bench/screenshots/seed.py: to be seen, waiting, refused, and reported."""

from datetime import datetime, timedelta
from typing import Any

from accounts.models import User
from companions.gallery import decisions, submission
from companions.gallery.catalogue import find_entry
from companions.gallery.publication import compose_publication
from companions.models import Companion, GalleryVersion

TERMS: dict[str, Any] = {
    "published_as": "Lanternlight",
    "line": "You are late. Bring the cold in or leave it out.",
    "summary": "Keeps the light on a rock far out, exact, and kinder than she sounds.",
    "tags": ["sea", "winter", "slow evenings"],
    "language": "en",
    "licence": "CC-BY-SA-4.0",
    "rating": "everyone",
}
State = GalleryVersion.State


def publish(
    keeper: Companion, other: Companion, operator: User, guest: User, now: datetime
) -> dict[str, str]:
    """Publish two companions, and return the pages by their names."""

    def send_in(companion: Companion, days: int, **terms: Any) -> GalleryVersion:
        sent = submission.Terms(**{**TERMS, **terms})
        at = now - timedelta(days=days)
        picture = submission.copy_picture(companion, at)
        return submission.submit(companion, compose_publication(companion), sent, picture, at)

    first = send_in(keeper, 9)
    decisions.decide(operator, first, State.APPROVED, now - timedelta(days=8))
    decisions.report(guest, find_entry(guest, first.character_id), "copied", "I know this from a book.", now)
    keeper.persona += "\nShe has begun to teach the gulls their names."
    keeper.save(update_fields=["persona"])
    send_in(keeper, 1, summary="Keeps the light on a rock far out, and names the gulls.")
    refused = send_in(
        other, 3, line="Nothing that one has not heard.", summary="", tags=[], licence="CC0-1.0"
    )
    reason = "This is Kith’s own character with another name. Make it yours first, then send it again."
    decisions.decide(operator, refused, State.REJECTED, now, reason=reason)
    return {
        "gallery": "/gallery/",
        "gallery-none": "/gallery/?q=xylophone",
        "gallery-character": f"/gallery/{first.character_id}/",
        "gallery-published": "/gallery/mine/",
        "gallery-publish": f"/companions/{keeper.pk}/settings/publish/",
        "gallery-delete": f"/gallery/{first.character_id}/delete/",
    }

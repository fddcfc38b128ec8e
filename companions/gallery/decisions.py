"""Operators' decisions about published characters, with audit entries; and users' reports, whose makers are notified.

A report is stored with a copy of the version, so that a publisher cannot hide it by deleting the character.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.models import User
from companions.conversations.revisions import Piece, compare
from companions.errors import GalleryError
from companions.gallery.catalogue import GalleryEntry, is_open_to_report, preview
from companions.gallery.submission import lock_character
from companions.models import GalleryReport, GalleryVersion, ReportedVersion
from companions.transfer.card_preview import CardPreview
from safety.audit import record
from safety.models import AuditEntry, Notice
from safety.notices import save_once

State = GalleryVersion.State
CONFLICT = 409
COPIED = (
    *("name", "published_as", "line", "summary", "tags", "language", "licence", "rating", "number"),
    "content",
)
DECIDED = {State.APPROVED: State.WAITING, State.REJECTED: State.WAITING, State.TAKEN_DOWN: State.APPROVED}


@transaction.atomic
def decide(
    operator: User,
    version: GalleryVersion,
    state: State,
    now: datetime,
    *,
    reason: str = "",
    rating: str = "",
) -> None:
    """Approve or reject a waiting version, or take down the approved one, and notify its publisher. Raise GalleryError.

    Rejecting and taking down need a `reason`, which the publisher reads. Approving may change the `rating`, and
    replaces the version that was approved before. Taking down settles the reports of the character.
    """
    if state != State.APPROVED and not reason.strip():
        raise GalleryError("no_reason", _("Say why: the publisher will be told."), "reason")
    lock_character(version.character)
    version.refresh_from_db(fields=["state"])
    if version.state != DECIDED[state]:
        raise GalleryError("decided", _("It is no longer in that state."), status=CONFLICT)
    versions = GalleryVersion.objects.filter(character=version.character_id)
    if state == State.APPROVED:
        versions.filter(state=State.APPROVED).update(state=State.REPLACED)
        version.rating = GalleryVersion.Rating(rating or version.rating)
    version.state, version.reason = state, reason.strip()
    version.decided_at, version.decided_by = now, operator
    version.save(update_fields=["state", "reason", "decided_at", "decided_by", "rating"])
    if state == State.TAKEN_DOWN:
        _settle(list_open_reports(version), now, Notice.Kind.REPORT_UPHELD)
    save_once(Notice(user=version.character.user, kind=Notice.Kind.PUBLICATION, made_at=now))
    record(operator, AuditEntry.Deed.CHANGED, GalleryVersion, version.pk, version.character.user_id)


def report(user: User, entry: GalleryEntry, kind: str, text: str, now: datetime) -> GalleryReport:
    """Store the user's report of the entry, with a copy of the version.

    Raise GalleryError if the character is their own or Kith's, is reported by them already, or was deleted meanwhile.
    """
    refusal = GalleryError(
        "cannot_report",
        _("You have already reported this, or it is your own or Kith’s."),
        status=CONFLICT,
    )
    version = entry.version
    if version is None or not is_open_to_report(user, entry):
        raise refusal
    try:
        with transaction.atomic():
            lock_character(version.character)
            copied = {name: getattr(version, name) for name in COPIED}
            of: dict[str, Any] = {"user_id": version.character.user_id, "published": copied, "kept_at": now}
            copy, _is_new = ReportedVersion.objects.get_or_create(version=version, defaults=of)
            return GalleryReport.objects.create(
                user=user,
                character_id=entry.id,
                number=entry.number,
                copy=copy,
                kind=kind,
                text=text,
                created_at=now,
            )
    except IntegrityError as error:  # the same report was sent twice at once
        raise refusal from error


@transaction.atomic
def settle_reports(operator: User, version: GalleryVersion, now: datetime) -> int:
    """Mark the open reports of the version's character as settled; return how many there were."""
    count = _settle(list_open_reports(version), now)
    if count:
        record(operator, AuditEntry.Deed.CHANGED, GalleryVersion, version.pk, version.character.user_id)
    return count


@transaction.atomic
def settle_report(operator: User, report: GalleryReport, now: datetime) -> bool:
    """Mark the report as settled; return False if it already was."""
    is_new = _settle(GalleryReport.objects.filter(pk=report.pk, settled_at=None), now) > 0
    if is_new:
        record(operator, AuditEntry.Deed.CHANGED, GalleryReport, report.pk, report.user_id)
    return is_new


def _settle(
    reports: QuerySet[GalleryReport], now: datetime, kind: Notice.Kind = Notice.Kind.REPORT_SETTLED
) -> int:
    """Mark the open reports as settled, and notify those who made them; return how many there were."""
    settled = list(reports.select_for_update(of=["self"]).select_related("user"))
    for report in settled:
        save_once(Notice(user=report.user, kind=kind, made_at=now))
    return GalleryReport.objects.filter(pk__in=[report.pk for report in settled]).update(settled_at=now)


def delete_unreported_copies() -> int:
    """Delete copies without reports, left when all who reported had deleted their accounts; return how many."""
    return ReportedVersion.objects.filter(reports=None).delete()[0]


def read_copy(copy: ReportedVersion) -> GalleryVersion:
    """Return the version as it was reported, as an unsaved model instance."""
    return GalleryVersion(**copy.published)


def list_open_reports(version: GalleryVersion) -> QuerySet[GalleryReport]:
    return GalleryReport.objects.filter(character=version.character_id, settled_at=None)


# -- what an operator reads -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """A part that differs between two versions, as a comparison line by line."""

    label: str
    lines: Sequence[Sequence[Piece]]


def find_approved(version: GalleryVersion) -> GalleryVersion | None:
    """Return the approved version of the same character, or None if there is none."""
    return GalleryVersion.objects.filter(character=version.character_id, state=State.APPROVED).first()


def list_differences(before: GalleryVersion, after: GalleryVersion) -> list[Difference]:
    """Return the parts that differ between two versions of a character."""
    parts_before, parts_after = _list_parts(before), _list_parts(after)
    labels = [*parts_after, *(label for label in parts_before if label not in parts_after)]
    return [
        Difference(
            label,
            compare(parts_before.get(label, "").splitlines(), parts_after.get(label, "").splitlines()),
        )
        for label in labels
        if parts_before.get(label) != parts_after.get(label)
    ]


def _list_parts(version: GalleryVersion) -> dict[str, str]:
    shown: CardPreview = preview(version.content)
    parts = {
        _("Name"): version.name,
        _("Published as"): version.published_as,
        _("A line"): version.line,
        _("Summary"): version.summary,
        _("Tags"): ", ".join(version.tags),
        _("Licence"): version.get_licence_display(),
        _("Age rating"): version.get_rating_display(),
        _("What its creator says about it"): shown.notes,
        _("Lorebook"): shown.book,
        **{text.label: text.text for text in (*shown.texts, *shown.hidden)},
    }
    for number, greeting in enumerate(shown.greetings, start=1):
        parts[_("Greeting %(number)s") % {"number": number}] = greeting
    for number, entry in enumerate(shown.entries, start=1):
        label = _("Lorebook, entry %(number)s") % {"number": number}
        keys = ", ".join((*entry.keys, *entry.secondary_keys))
        parts[label] = f"{entry.title}\n{keys}\n{entry.text}"
    return {label: text for label, text in parts.items() if text}

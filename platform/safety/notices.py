"""Notices that Kith itself gives to people: that this is an AI, help lines, breaks, what operators did."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from accounts.models import User
from safety.models import ContinuousUse, Notice

PAUSE = timedelta(minutes=30)  # a silence of this length counts as a break
AI_TEXT = _("You are talking with an AI, not with a person.")
BREAK_TEXT = _("A break would do you good. And remember that this is an AI, not a person.")
HELP_LINES = _(
    "988 (USA, Canada), 116 123 (UK, Ireland, parts of Europe), 13 11 14 (Australia), 12356 (China), findahelpline.com"
)
CRISIS_TEXT = _(
    "If you might hurt yourself, please talk with a person now, for example at a help line: %(lines)s. In danger, call"
    " the emergency number. Kith tells you this: an AI cannot help in an emergency."
)
OPERATORS_TEXTS = {
    Notice.Kind.PASSWORD_SET: _(
        "An operator of this Kith has set a new password for your account. If you did not ask for this, contact them."
        " To choose one of your own, sign out and reset your password by e-mail."
    ),
    Notice.Kind.ADDRESS_CHANGED: _(
        "An operator of this Kith has changed an e-mail address of your account. If you did not ask for this, contact"
        " them, and remove any address that is not yours under “E-mail addresses”."
    ),
    Notice.Kind.SIGNED_IN: _(
        "Someone signed in to your account after an operator had set its password or changed its address. You will be"
        " told each time, until only your own addresses are left and you have chosen a new password by e-mail."
    ),
    Notice.Kind.PUBLICATION: _("An operator has decided about a character that you published."),
    Notice.Kind.REPORT_UPHELD: _(
        "An operator has taken a character that you reported out of the gallery. Thank you for reporting it."
    ),
    Notice.Kind.REPORT_SETTLED: _(
        "An operator has read your report about a character and left it in the gallery. If you see it otherwise, report"
        " it again and say why."
    ),
}


@transaction.atomic
def record_use(user: User, said_at: datetime, now: datetime) -> list[Notice]:
    """Record that the user talked from `said_at` until `now`; save and return the notices that become due.

    There is one record per user over all companions and channels. A message out of order never moves it back.
    """
    use, _is_new = ContinuousUse.objects.select_for_update().get_or_create(
        user=user, defaults={"begun_at": said_at, "last_at": said_at}
    )
    if said_at - use.last_at >= PAUSE:
        use.begun_at, use.told_at = said_at, None
    use.last_at = max(use.last_at, now)
    notices = []
    today = now.astimezone(user.zone).date()
    if use.ai_told_on is None or use.ai_told_on < today:
        use.ai_told_on = today
        notices.append(Notice(user=user, kind=Notice.Kind.AI, made_at=now))
    if now - (use.told_at or use.begun_at) >= settings.BREAK_AFTER:
        use.told_at = now
        minutes = int((now - use.begun_at).total_seconds() // 60)
        notices.append(Notice(user=user, kind=Notice.Kind.BREAK, minutes=minutes, made_at=now))
    use.save()
    return Notice.objects.bulk_create(notices)


def list_unseen(user: User, now: datetime) -> list[Notice]:
    """Return the user's undismissed notices, oldest first: of what operators did, and others of the last day."""
    fresh = Q(made_at__gt=now - timedelta(days=1)) | Q(kind__in=OPERATORS_TEXTS)
    return list(Notice.objects.owned_by(user).filter(fresh, seen_at=None).order_by("made_at"))


def save_once(notice: Notice) -> None:
    """Save the notice, unless its user has one of its kind that they have not dismissed."""
    if not Notice.objects.owned_by(notice.user).filter(kind=notice.kind, seen_at=None).exists():
        notice.save()


def mark_seen(notice: Notice, now: datetime) -> None:
    """Save when the user dismissed the notice, unless they had already."""
    Notice.objects.filter(pk=notice.pk, seen_at=None).update(seen_at=now)


def mark_kind_seen(user: User, kind: Notice.Kind, now: datetime) -> None:
    """Save that the user has seen all notices of the kind, e.g. since they opened the page that these refer to."""
    Notice.objects.owned_by(user).filter(kind=kind, seen_at=None).update(seen_at=now)


def describe(notice: Notice) -> str | Promise:
    """Return the notice's text in the active language."""
    if notice.kind == Notice.Kind.AI:
        return AI_TEXT
    if notice.kind == Notice.Kind.CRISIS:
        return CRISIS_TEXT % {"lines": settings.HELP_LINES or HELP_LINES}
    if notice.kind != Notice.Kind.BREAK:
        return OPERATORS_TEXTS[Notice.Kind(notice.kind)]
    hours = notice.minutes // 60
    if hours:
        duration = ngettext_lazy(
            "You have been talking for an hour.", "You have been talking for %(count)d hours.", "count"
        )
    else:
        duration = ngettext_lazy(
            "You have been talking for a minute.", "You have been talking for %(count)d minutes.", "count"
        )
    return f"{duration % {'count': hours or notice.minutes}} {BREAK_TEXT}"


def as_frame(notice: Notice) -> dict[str, str]:
    """Return the notice as a socket frame, in the active language."""
    return {"type": "notice", "id": str(notice.pk), "kind": notice.kind, "text": str(describe(notice))}

"""Time together: how long a person has talked without a pause, and what they must be told for it."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from accounts.models import User
from safety.models import Notice, Together

PAUSE = timedelta(minutes=30)  # whoever is silent for so long has had a break
SAYS_AI = _("You are talking with an AI, not with a person.")
SAYS_BREAK = _("A break would do good. And remember that this is an AI, not a person.")

OF_THE_ACCOUNT = {
    Notice.Kind.PASSWORD_SET: _(
        "An operator of this Kith has set a new password for your account."
        " If you did not ask for it, speak with them. Choose one of your own: sign out, and have a new password sent."
    ),
    Notice.Kind.ADDRESS_CHANGED: _(
        "An operator of this Kith has changed an e-mail address of your account."
        " If you did not ask for it, speak with them, and remove what is not yours under “E-mail addresses”."
    ),
    Notice.Kind.SIGNED_IN: _(
        "Somebody signed in to your account after an operator had set its password or changed its address."
        " You are told each time until only your own addresses are left and you have had a new password sent to you."
    ),
}


@transaction.atomic
def note(user: User, said_at: datetime, now: datetime) -> list[Notice]:
    """Count that the person talked from `said_at` until `now`; the notices that are due by it, written down.

    Whatever they talk through, and with whom: there is one count a person. A message that comes out of order moves
    nothing back.
    """
    together, _is_new = Together.objects.select_for_update().get_or_create(
        user=user, defaults={"begun_at": said_at, "last_at": said_at}
    )
    if said_at - together.last_at >= PAUSE:
        together.begun_at, together.told_at = said_at, None
    together.last_at = max(together.last_at, now)
    made = _due(together, user, now)
    together.save()
    return Notice.objects.bulk_create(made)


def _due(together: Together, user: User, now: datetime) -> list[Notice]:
    made = []
    today = now.astimezone(user.zone).date()
    if together.ai_told_on is None or together.ai_told_on < today:
        together.ai_told_on = today
        made.append(Notice(user=user, kind=Notice.Kind.AI, made_at=now))
    if now - (together.told_at or together.begun_at) >= settings.BREAK_AFTER:
        together.told_at = now
        minutes = int((now - together.begun_at).total_seconds() // 60)
        made.append(Notice(user=user, kind=Notice.Kind.BREAK, minutes=minutes, made_at=now))
    return made


def unseen(user: User, now: datetime) -> Sequence[Notice]:
    """What the person has not yet dismissed of the last day, and what waits until it is, the oldest first; one query."""
    fresh = Q(made_at__gt=now - timedelta(days=1)) | Q(kind__in=OF_THE_ACCOUNT)
    return list(Notice.objects.owned_by(user).filter(fresh, seen_at=None).order_by("made_at"))


def see(notice: Notice, now: datetime) -> None:
    """The person has seen it, the first time."""
    Notice.objects.filter(pk=notice.pk, seen_at=None).update(seen_at=now)


def words(notice: Notice) -> str | Promise:
    """What the notice says, in the language that is active."""
    if notice.kind == Notice.Kind.AI:
        return SAYS_AI
    if notice.kind in OF_THE_ACCOUNT:
        return OF_THE_ACCOUNT[Notice.Kind(notice.kind)]
    told = ngettext_lazy(
        "You have been talking for a minute.", "You have been talking for %(count)d minutes.", "count"
    )
    hours = notice.minutes // 60
    if hours:
        told = ngettext_lazy(
            "You have been talking for an hour.", "You have been talking for %(count)d hours.", "count"
        )
    return f"{told % {'count': hours or notice.minutes}} {SAYS_BREAK}"


def frame(notice: Notice) -> dict[str, str]:
    """The notice as sockets give it, in the language that is active."""
    return {"type": "notice", "id": str(notice.pk), "kind": notice.kind, "text": str(words(notice))}

"""Signing up by invitation: a code comes by link, waits in the session, and lets one person in."""

import re
from datetime import datetime

from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.errors import InvitationError
from accounts.models import Invitation, User

SESSION_KEY = "invitation"
CODE = re.compile(r"[\w-]{1,32}", re.ASCII)


def offered(request: HttpRequest) -> str | None:
    """The unused code that this visitor brings, by `?invite=CODE` now or earlier in the session."""
    code = request.GET.get("invite") or request.session.get(SESSION_KEY, "")
    if not CODE.fullmatch(code) or not Invitation.objects.filter(code=code, used_at=None).exists():
        return None
    if request.session.get(SESSION_KEY) != code:
        request.session[SESSION_KEY] = code
    return str(code)


def use(request: HttpRequest, user: User, now: datetime) -> None:
    """Mark the visitor's code as used by this user; InvitationError where someone else was faster.

    To be called in the transaction that makes the user: of two at once the second waits for the first.
    """
    code = request.session.pop(SESSION_KEY, "")
    if not Invitation.objects.filter(code=code, used_at=None).update(used_by=user, used_at=now):
        raise InvitationError(_("This invitation has been used already. Ask for another one."))

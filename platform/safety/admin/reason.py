"""Why an operator opens or changes what is private to a person: asked first, once an hour for each person."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextInputWidget

from accounts.models import User
from safety.models import AuditEntry

GOOD_FOR = timedelta(hours=1)
IN_SESSION = "reasons_to_open"
NOT_POSTED_AGAIN = {"csrfmiddlewaretoken", "reason_to_open"}
MAX_CHARACTERS = AuditEntry._meta.get_field("reason").max_length


class ReasonForm(forms.Form):
    """The reason; the field is named like none of the forms whose place this one takes."""

    reason_to_open = forms.CharField(
        label=_("Why do you open it?"),
        max_length=MAX_CHARACTERS,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text=_("For example: “asked for help with an answer that failed”. Quote nothing private."),
    )


def find_reason(request: HttpRequest, owner_id: int | None) -> str:
    """Return the reason that the operator gave within the last hour for opening what is this person's, or ""."""
    reason: str = _load_reasons(request).get(str(owner_id), {}).get("reason", "")
    return reason


def ask_for_reason(request: HttpRequest, owners: Collection[User], *, is_action: bool) -> HttpResponse | None:
    """Return the page that asks for the reason, or None once it is given: it then holds for all owners.

    With an action on a list, the page posts what was chosen there again.
    """
    form = ReasonForm(request.POST if "reason_to_open" in request.POST else None, label_suffix="")
    if form.is_valid():
        until = (timezone.now() + GOOD_FOR).timestamp()
        given = {"reason": form.cleaned_data["reason_to_open"], "until": until}
        request.session[IN_SESSION] = _load_reasons(request) | {str(owner.pk): given for owner in owners}
        return None
    if is_action:
        form.fields["reason_to_open"].label = _("Why do you do it?")
    chosen = [(name, value) for name, values in request.POST.lists() for value in values] if is_action else []
    context = admin.site.each_context(request) | {
        "title": _("Why?"),
        "form": form,
        "owners": [owner.email for owner in owners],
        "is_action": is_action,
        "chosen": [field for field in chosen if field[0] not in NOT_POSTED_AGAIN],
    }
    return render(request, "admin/private/reason.html", context)


def _load_reasons(request: HttpRequest) -> dict[str, Any]:
    now = timezone.now().timestamp()
    kept: dict[str, Any] = request.session.get(IN_SESSION, {})
    return {owner: given for owner, given in kept.items() if given["until"] > now}

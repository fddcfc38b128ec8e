"""Deleting many memories: chosen ones, all of a kind, or all; asked for first, with how many and what goes along."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from accounts.signed_in import SignedInRequest
from companions.deletion import forget_every, forget_many
from companions.deletion.memories import MOST_AT_ONCE
from companions.forms import TypedNameForm
from companions.models import Companion
from companions.views.finding import my_companion
from memory.models import Memory

UNPROCESSABLE = 422


@require_POST
@login_required
def delete_many(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Ask whether to delete them; with `is_sure`, and for all with the companion's name typed, do it."""
    companion, ids, kind = my_companion(request, companion_id), _ids(request), _kind(request)
    form = TypedNameForm(companion, request.POST if "is_sure" in request.POST else None)
    if "is_sure" not in request.POST or (not ids and not form.is_valid()):
        return _ask(request, companion, ids, kind, form)
    kinds, with_messages = ([kind] if kind else []), "with_messages" in request.POST
    now = timezone.now()
    if ids:
        count = forget_many(companion.pk, ids, now, with_messages=with_messages)
    else:
        count = forget_every(companion.pk, kinds, now, with_messages=with_messages)
    said = ngettext("%(count)s memory is deleted.", "%(count)s memories are deleted.", count)
    messages.success(request, said % {"count": count})
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Redirect": reverse("memories", args=[companion.pk])})
    return redirect("memories", companion.pk)


def _ask(
    request: SignedInRequest, companion: Companion, ids: list[UUID], kind: str, form: TypedNameForm
) -> HttpResponse:
    chosen = Memory.objects.of(companion.pk)
    chosen = chosen.filter(pk__in=ids) if ids or "all" not in request.POST else chosen
    chosen = chosen.filter(kind=kind) if kind and not ids else chosen
    count = chosen.count()
    if not count:
        messages.info(request, _("Choose some memories first."))
        if request.headers.get("HX-Request"):
            return render(request, "memories/none_chosen.html", {"companion": companion})
        return redirect("memories", companion.pk)
    context = {
        "companion": companion,
        "ids": ids,
        "kind": kind,
        "kind_label": Memory.Kind(kind).label if kind else "",
        "count": count,
        "has_gists": chosen.filter(kind=Memory.Kind.GIST).exists(),
        "has_messages": chosen.exclude(message=None).exists()
        or chosen.filter(sources__isnull=False).exists(),
        "form": form,
    }
    status = UNPROCESSABLE if form.is_bound and not request.headers.get("HX-Request") else 200
    return render(request, "memories/delete_many.html", context, status=status)


def _ids(request: SignedInRequest) -> list[UUID]:
    """The chosen ones; none where all are meant."""
    if "all" in request.POST:
        return []
    try:
        return [UUID(one) for one in request.POST.getlist("id")][:MOST_AT_ONCE]
    except ValueError as error:
        raise Http404 from error


def _kind(request: SignedInRequest) -> str:
    kind = request.POST.get("kind", "")
    if kind and kind not in Memory.Kind.values:
        raise Http404
    return kind

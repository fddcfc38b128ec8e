"""The goals and ideas of a companion, and how far they are."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.errors import PursuitError
from companions.memories import goals as pursued
from companions.models import Companion
from companions.pages.shortcuts import UNPROCESSABLE, page_view, post_view
from memory.models import Memory, Pursuit
from text.storable import shorten

MAX_GOAL_CHARACTERS = 80  # of a goal in the list to choose from


class PursuitForm(forms.Form):
    """`goals` are those that a goal can be a part of; an idea has no such field."""

    status = forms.ChoiceField(label=gettext_lazy("How it stands"), choices=Pursuit.Status.choices)
    progress = forms.IntegerField(
        label=gettext_lazy("Progress in per cent"),
        min_value=0,
        max_value=100,
        widget=forms.NumberInput(attrs={"inputmode": "numeric", "step": 5}),
    )
    excitement = forms.IntegerField(
        label=gettext_lazy("How exciting, from 1 to 10"),
        min_value=1,
        max_value=10,
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
    )
    parent_id = forms.TypedChoiceField(
        label=gettext_lazy("A part of"), required=False, empty_value=None, coerce=UUID, choices=()
    )

    def __init__(self, *args: Any, pursuit: Pursuit, goals: Iterable[Pursuit] = (), **kwargs: Any) -> None:
        stands = {name: getattr(pursuit, name) for name in self.base_fields}
        super().__init__(*args, **{"initial": stands, **kwargs})
        if pursuit.memory.kind != Memory.Kind.GOAL:
            del self.fields["parent_id"]
            return
        others = [goal.memory for goal in goals if goal.memory_id != pursuit.memory_id]
        named = [(str(memory.pk), shorten(memory.text, MAX_GOAL_CHARACTERS)) for memory in others]
        field: Any = self.fields["parent_id"]
        field.choices = [("", _("nothing greater")), *named]


MAX_SHOWN = 500  # the newest


@page_view
def pursuits(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Goals as a tree and ideas by excitement; the one that is named in `change` with its form."""
    companion, found = _found(request, companion_id)
    wanted = request.GET.get("change", "")
    opened = next((goal for goal in found if str(goal.memory_id) == wanted), None)
    return _page(
        request,
        companion,
        found,
        PursuitForm(pursuit=opened, goals=_goals(found)) if opened else None,
        opened,
    )


@post_view
def change(request: SignedInRequest, companion_id: UUID, pursuit_id: UUID) -> HttpResponse:
    """Keep how it stands; with errors the page comes back with them."""
    companion, found = _found(request, companion_id)
    pursuit = get_object_or_404(pursued.pursuits(companion), memory=pursuit_id)
    form = PursuitForm(request.POST, pursuit=pursuit, goals=_goals(found))
    if not form.is_valid() or not _changed(companion, pursuit, form):
        return _page(request, companion, found, form, pursuit, UNPROCESSABLE)
    messages.success(request, _("Saved."))
    return redirect(f"{reverse('pursuits', args=[companion_id])}#pursuit-{pursuit_id}")


def _changed(companion: Companion, pursuit: Pursuit, form: PursuitForm) -> bool:
    """Whether it was; else the form tells why not."""
    try:
        pursued.change(companion, pursuit.memory_id, form.cleaned_data, timezone.now())
    except PursuitError as error:
        form.add_error("parent_id", str(error.detail))
        return False
    except Pursuit.DoesNotExist as error:
        raise Http404 from error
    return True


def _found(request: SignedInRequest, companion_id: UUID) -> tuple[Companion, list[Pursuit]]:
    companion = get_companion(request.user, companion_id)
    return companion, list(pursued.pursuits(companion).order_by("-memory__learnt_at", "-pk")[:MAX_SHOWN])


def _goals(found: list[Pursuit]) -> list[Pursuit]:
    return [goal for goal in found if goal.memory.kind == Memory.Kind.GOAL]


def _page(
    request: SignedInRequest,
    companion: Companion,
    found: list[Pursuit],
    form: PursuitForm | None,
    opened: Pursuit | None,
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = {
        "companion": companion,
        "goals": pursued.tree(_goals(found)),
        "ideas": pursued.by_excitement(goal for goal in found if goal.memory.kind == Memory.Kind.IDEA),
        "form": form,
        "opened": opened.memory_id if opened else None,
    }
    return render(request, "life/pursuits.html", context, status=status)

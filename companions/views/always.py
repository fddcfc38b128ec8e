"""The page "Always in mind": slots, blocks, and the notes of the open session."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.signed_in import SignedInRequest
from companions.locking import lock
from companions.mind_forms import BlockForm, BlockTextForm, SlotForm, SlotTextForm
from companions.models import Companion
from companions.tools.notes import SCRATCH_CHARACTERS
from companions.views.finding import my_companion
from memory.always import delete_block, delete_slot, set_slot, write_block
from memory.errors import AlwaysError
from memory.models import Block, Slot
from memory.models.always import MOST_BLOCKS, MOST_SLOTS, SLOT_CHARACTERS, By

UNPROCESSABLE = 422
require_form = require_http_methods(["GET", "HEAD", "POST"])


@require_safe
@login_required
@never_cache
def always(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    return _page(request, my_companion(request, companion_id))


def _page(request: SignedInRequest, companion: Companion, status: int = 200, **more: Any) -> HttpResponse:
    """The whole page; a form with errors comes back in its place."""
    context = {
        "companion": companion,
        "slots": companion.slots.order_by("name"),
        "blocks": companion.blocks.order_by("name"),
        "scratch": companion.sessions.filter(ended_at=None).values_list("scratch", flat=True).first() or "",
        "scratch_characters": SCRATCH_CHARACTERS,
        "slot_characters": SLOT_CHARACTERS,
        "most_slots": MOST_SLOTS,
        "most_blocks": MOST_BLOCKS,
        "slot_form": SlotForm(prefix="slot"),
        "block_form": BlockForm(prefix="block"),
    }
    return render(request, "companions/always.html", context | more, status=status)


@require_POST
@login_required
def add_slot(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion, form = my_companion(request, companion_id), SlotForm(request.POST, prefix="slot")
    if not _is_written(companion, form, lambda given: _set(companion, **given)):
        return _page(request, companion, UNPROCESSABLE, slot_form=form)
    return redirect("always", companion.pk)


@require_POST
@login_required
def add_block(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion, form = my_companion(request, companion_id), BlockForm(request.POST, prefix="block")
    if not _is_written(companion, form, lambda given: _write(companion, **given)):
        return _page(request, companion, UNPROCESSABLE, block_form=form)
    return redirect("always", companion.pk)


@require_form
@login_required
@never_cache
def slot(request: SignedInRequest, companion_id: UUID, slot_id: int) -> HttpResponse:
    """One slot: as a row for htmx, else in the page; with `?edit` as a form."""
    shown = get_object_or_404(Slot.objects.owned_by(request.user).filter(companion=companion_id), pk=slot_id)
    companion = my_companion(request, companion_id)
    form = SlotTextForm(request.POST or None, initial={"text": shown.text})
    saved = _is_written(companion, form, lambda given: _set(companion, name=shown.name, **given))
    return _row(request, companion, "slot", shown, form, is_saved=saved)


@require_form
@login_required
@never_cache
def block(request: SignedInRequest, companion_id: UUID, block_id: int) -> HttpResponse:
    """The same of one block."""
    shown = get_object_or_404(
        Block.objects.owned_by(request.user).filter(companion=companion_id), pk=block_id
    )
    companion = my_companion(request, companion_id)
    given = {name: getattr(shown, name) for name in BlockTextForm.base_fields}
    form = BlockTextForm(request.POST or None, initial=given)
    saved = _is_written(companion, form, lambda given: _write(companion, name=shown.name, **given))
    return _row(request, companion, "block", shown, form, is_saved=saved)


def _row(
    request: SignedInRequest,
    companion: Companion,
    what: str,
    shown: Slot | Block,
    form: forms.Form,
    *,
    is_saved: bool,
) -> HttpResponse:
    shown.refresh_from_db()
    is_wrong = form.is_bound and not is_saved
    edited = {"edited": shown, "edit_form": form} if is_wrong or "edit" in request.GET else {}
    status = UNPROCESSABLE if is_wrong else 200
    if not request.headers.get("HX-Request"):
        return redirect("always", companion.pk) if is_saved else _page(request, companion, status, **edited)
    context = {"companion": companion, what: shown, "slot_characters": SLOT_CHARACTERS, **edited}
    return render(request, f"companions/_{what}.html", context, status=status)


@require_form
@login_required
@never_cache
def remove_slot(request: SignedInRequest, companion_id: UUID, slot_id: int) -> HttpResponse:
    shown = get_object_or_404(Slot.objects.owned_by(request.user).filter(companion=companion_id), pk=slot_id)
    return _removed(request, my_companion(request, companion_id), shown, delete_slot)


@require_form
@login_required
@never_cache
def remove_block(request: SignedInRequest, companion_id: UUID, block_id: int) -> HttpResponse:
    shown = get_object_or_404(
        Block.objects.owned_by(request.user).filter(companion=companion_id), pk=block_id
    )
    return _removed(request, my_companion(request, companion_id), shown, delete_block)


def _removed(
    request: SignedInRequest, companion: Companion, shown: Slot | Block, delete: Callable[[UUID, str], object]
) -> HttpResponse:
    """Ask whether to delete it; then do it."""
    if request.method != "POST":
        context = {"companion": companion, "shown": shown}
        return render(request, "companions/delete_in_mind.html", context)
    with transaction.atomic():
        lock(companion.pk)
        delete(companion.pk, shown.name)
    messages.success(request, _("“%(name)s” is deleted.") % {"name": shown.name})
    return redirect("always", companion.pk)


def _is_written(companion: Companion, form: forms.Form, write: Callable[[dict[str, Any]], object]) -> bool:
    """Whether the form was sent and what stands in it was written; else its errors say why."""
    if not form.is_bound or not form.is_valid():
        return False
    try:
        with transaction.atomic():
            lock(companion.pk)
            write(form.cleaned_data)
    except AlwaysError as error:
        form.add_error(None, str(error.detail))
        return False
    return True


def _set(companion: Companion, name: str, text: str) -> None:
    set_slot(companion.pk, name, text, by=By.USER, now=timezone.now())


def _write(companion: Companion, name: str, **given: Any) -> None:
    write_block(companion.pk, name, by=By.USER, now=timezone.now(), **given)

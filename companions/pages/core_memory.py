"""The page "Always keep in mind": slots and blocks."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.authentication import SignedInRequest
from companions.access import get_block, get_companion, get_slot
from companions.memories.editing import delete_core_memory, edit_core_memory
from companions.models import Companion
from companions.pages.shortcuts import UNPROCESSABLE, form_view, page_view, post_view
from memory.core_memory import MAX_BLOCK_CHARACTERS, NAME_CHARACTERS, set_slot, write_block
from memory.errors import CoreMemoryError
from memory.models import Block, Slot
from memory.models.core_memory import BLOCK_CHARACTERS, MAX_BLOCKS, MAX_SLOTS, SLOT_CHARACTERS


def _name_field(hint: Any) -> forms.CharField:
    widget = forms.TextInput(attrs={"autocomplete": "off"})
    return forms.CharField(
        label=gettext_lazy("Name"), max_length=NAME_CHARACTERS, widget=widget, help_text=hint
    )


class SlotTextForm(forms.Form):
    """The text of a slot."""

    text = forms.CharField(
        label=gettext_lazy("What to keep in mind"),
        max_length=SLOT_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class SlotForm(SlotTextForm):
    """A new slot, or another text for an existing slot of the same name."""

    name = _name_field(gettext_lazy("A word or two to say what it is about, such as “birthday”."))
    field_order = ("name", "text")


class BlockTextForm(forms.Form):
    """The text of a block, its description, its limit, and whether the companion may write on it."""

    description = forms.CharField(label=gettext_lazy("What it is for"), max_length=200, required=False)
    text = forms.CharField(
        label=gettext_lazy("Text"),
        max_length=MAX_BLOCK_CHARACTERS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
    )
    most_characters = forms.IntegerField(
        label=gettext_lazy("How many characters it can hold"),
        min_value=1,
        max_value=MAX_BLOCK_CHARACTERS,
        initial=BLOCK_CHARACTERS,
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
    )
    is_read_only = forms.BooleanField(
        label=gettext_lazy("Your companion can read it, but not change it"), required=False
    )


class BlockForm(BlockTextForm):
    """A new block."""

    name = _name_field(gettext_lazy("For example, “plans”."))
    field_order = ("name", "description", "text", "most_characters", "is_read_only")


@page_view
def always(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    return _page(request, get_companion(request.user, companion_id))


def _page(request: SignedInRequest, companion: Companion, status: int = 200, **more: Any) -> HttpResponse:
    """Render the whole page; `more` replaces parts of its context, e.g. a form with errors."""
    context = {
        "companion": companion,
        "slots": companion.slots.order_by("name"),
        "blocks": companion.blocks.order_by("name"),
        "slot_characters": SLOT_CHARACTERS,
        "most_slots": MAX_SLOTS,
        "most_blocks": MAX_BLOCKS,
        "slot_form": SlotForm(prefix="slot"),
        "block_form": BlockForm(prefix="block"),
    }
    return render(request, "companions/core_memory.html", context | more, status=status)


@post_view
def add_slot(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion, form = get_companion(request.user, companion_id), SlotForm(request.POST, prefix="slot")
    if not _save(companion, form, set_slot):
        return _page(request, companion, UNPROCESSABLE, slot_form=form)
    return redirect("always", companion.pk)


@post_view
def add_block(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion, form = get_companion(request.user, companion_id), BlockForm(request.POST, prefix="block")
    if not _save(companion, form, write_block):
        return _page(request, companion, UNPROCESSABLE, block_form=form)
    return redirect("always", companion.pk)


@form_view
def slot(request: SignedInRequest, companion_id: UUID, slot_id: int) -> HttpResponse:
    shown = get_slot(request.user, companion_id, slot_id)
    form = SlotTextForm(request.POST or None, initial={"text": shown.text})
    return _show_row(request, "slot", shown, form, set_slot)


@form_view
def block(request: SignedInRequest, companion_id: UUID, block_id: int) -> HttpResponse:
    shown = get_block(request.user, companion_id, block_id)
    initial = {name: getattr(shown, name) for name in BlockTextForm.base_fields}
    form = BlockTextForm(request.POST or None, initial=initial)
    return _show_row(request, "block", shown, form, write_block)


def _show_row(
    request: SignedInRequest, kind: str, shown: Slot | Block, form: forms.Form, write: Callable[..., object]
) -> HttpResponse:
    """Save the form if it was sent, and show the slot or block: as a row for htmx, otherwise within the page.

    With `?edit`, or if the form has errors, it is shown as a form.
    """
    companion = get_companion(request.user, shown.companion_id)
    is_saved = _save(companion, form, write, name=shown.name)
    shown.refresh_from_db()
    is_wrong = form.is_bound and not is_saved
    edited = {"edited": shown, "edit_form": form} if is_wrong or "edit" in request.GET else {}
    status = UNPROCESSABLE if is_wrong else 200
    if not request.htmx:
        return redirect("always", companion.pk) if is_saved else _page(request, companion, status, **edited)
    most = SLOT_CHARACTERS if isinstance(shown, Slot) else shown.most_characters
    context = {"companion": companion, "kind": kind, "row": shown, "most": most, **edited}
    return render(request, "companions/_core_memory_row.html", context, status=status)


def _save(companion: Companion, form: forms.Form, write: Callable[..., object], **name: str) -> bool:
    """Save the form with `write`, if it was sent; return whether it was saved. If it was not, its errors say why."""
    if not form.is_bound or not form.is_valid():
        return False
    try:
        edit_core_memory(companion, write, **form.cleaned_data, **name, now=timezone.now())
    except CoreMemoryError as error:
        form.add_error(None, str(error.detail))
        return False
    return True


@form_view
def remove_slot(request: SignedInRequest, companion_id: UUID, slot_id: int) -> HttpResponse:
    return _remove(request, get_slot(request.user, companion_id, slot_id))


@form_view
def remove_block(request: SignedInRequest, companion_id: UUID, block_id: int) -> HttpResponse:
    return _remove(request, get_block(request.user, companion_id, block_id))


def _remove(request: SignedInRequest, shown: Slot | Block) -> HttpResponse:
    """Ask whether to delete the slot or block; on POST, delete it."""
    companion = get_companion(request.user, shown.companion_id)
    if request.method != "POST":
        context = {"companion": companion, "shown": shown}
        return render(request, "companions/delete_core_memory.html", context)
    delete_core_memory(companion, shown, timezone.now())
    messages.success(request, _("“%(name)s” has been deleted.") % {"name": shown.name})
    return redirect("always", companion.pk)

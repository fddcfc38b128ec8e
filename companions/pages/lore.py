"""The pages of lorebooks, of one companion or of all of a person's: list, entries, try-out, import and export."""

from secrets import randbits
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.authentication import SignedInRequest
from accounts.errors import GateError, RefusedError
from accounts.limits.rates import admit_to
from cards.child import MAX_BYTES
from cards.lorebooks import normalise_book
from cards.reader import REMARKS, read_card
from companions.access import get_companion, get_lore_entry, get_lorebook_of
from companions.errors import CompanionsError, LoreError
from companions.lore import editing
from companions.lore.turn import MAX_TRIED_CHARACTERS, try_text
from companions.models import CardUpload, Companion, Lorebook
from companions.pages.lore_forms import LorebookForm, LoreEntryForm, NewLorebookForm
from companions.pages.shortcuts import UNPROCESSABLE, form_view, page_view, post_view
from files.responses import attach
from files.uploads import read_upload
from text.strings import is_storable

ENTRIES = 50  # on a page
QUESTION_CHARACTERS = 200


@page_view
def lore(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    return _page(request, get_companion(request.user, companion_id), form=NewLorebookForm())


def _page(request: SignedInRequest, companion: Companion, status: int = 200, **more: Any) -> HttpResponse:
    counting = Q(companion=companion) | Q(companion=None)
    books = Lorebook.objects.owned_by(request.user).filter(counting).annotate(count=Count("entries"))
    context = {"companion": companion, "books": books, "most": MAX_TRIED_CHARACTERS, **more}
    return render(request, "lore/lore.html", context, status=status)


@post_view
def try_out(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show which entries match the text and why, and which matching ones would be left out of the prompt."""
    companion, text = get_companion(request.user, companion_id), request.POST.get("text", "").strip()
    shown: dict[str, Any] = {"text": text, "tried": True}
    try:
        admit_to(request.user, "lore", timezone.now())
        if len(text) > MAX_TRIED_CHARACTERS or not is_storable(text):
            shown["problem"] = _("A text can have at most %(most)s characters.") % {
                "most": f"{MAX_TRIED_CHARACTERS:,}"
            }
        elif text:
            shown["explanation"] = try_text(companion, text, timezone.now(), seed=randbits(32))
    except GateError as error:
        shown["problem"] = str(error.detail)
    if request.htmx.target == "tried":
        return render(request, "lore/_tried.html", {"companion": companion, **shown})
    return _page(request, companion, form=NewLorebookForm(), **shown)


@post_view
def add(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Make an empty lorebook, and go to it."""
    companion, form = get_companion(request.user, companion_id), NewLorebookForm(request.POST)
    if form.is_valid():
        try:
            book = editing.make_book(
                request.user,
                normalise_book({"name": form.cleaned_data["name"]}),
                timezone.now(),
                companion=None if form.cleaned_data["is_for_all"] else companion,
            )
        except CompanionsError as error:
            form.add_error(None, str(error.detail))
        else:
            return redirect("lorebook", companion.pk, book.pk)
    return _page(request, companion, UNPROCESSABLE, form=form)


@post_view
def bring(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Save the lorebook in an uploaded file, which may be a lorebook or a card that has one."""
    companion = get_companion(request.user, companion_id)
    try:
        admit_to(request.user, "imports", timezone.now())
        read = read_card(read_upload(request, MAX_BYTES))
        data = read.card["data"]
        found = data if read.form == CardUpload.Form.LOREBOOK else data.get("character_book")
        if not found:
            raise LoreError("no_lorebook", _("This is a character card without a lorebook."))
        owner = None if request.POST.get("is_for_all") else companion
        book = editing.make_book(request.user, found, timezone.now(), companion=owner)
    except RefusedError as error:
        messages.error(request, str(error.detail))
        return redirect("lore", companion.pk)
    tell_of_book(request, book, read.remarks)
    return redirect("lorebook", companion.pk, book.pk)


def tell_of_book(request: SignedInRequest, book: Lorebook, remarks: list[str]) -> None:
    """Tell the person that the book is saved, with how many entries, and the remarks on its file."""
    count = book.entries.count()
    told = ngettext(
        "“%(name)s” has been saved, with %(count)s entry.",
        "“%(name)s” has been saved, with %(count)s entries.",
        count,
    )
    messages.success(request, told % {"name": str(book), "count": count})
    for remark in remarks:
        messages.info(request, str(REMARKS[remark]))


@page_view
def lorebook(request: SignedInRequest, companion_id: UUID, lorebook_id: UUID) -> HttpResponse:
    """Show a page of a book's entries, or of those that contain the text in `?q=`."""
    companion = get_companion(request.user, companion_id)
    book = get_lorebook_of(request.user, companion_id, lorebook_id)
    question = request.GET.get("q", "").strip()[:QUESTION_CHARACTERS]
    found = editing.find_entries(book, question) if is_storable(question) else book.entries.none()
    entries = Paginator(found, ENTRIES).get_page(request.GET.get("page"))
    context = {"companion": companion, "book": book, "entries": entries, "question": question}
    return render(request, "lore/book.html", context)


@form_view
def settings(request: SignedInRequest, companion_id: UUID, lorebook_id: UUID) -> HttpResponse:
    companion = get_companion(request.user, companion_id)
    book = get_lorebook_of(request.user, companion_id, lorebook_id)
    form = LorebookForm(request.POST or None, instance=book)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, _("Saved."))
        return redirect("lorebook", companion_id, lorebook_id)
    context = {"companion": companion, "book": book, "form": form}
    return render(request, "lore/settings.html", context, status=UNPROCESSABLE if form.errors else 200)


@form_view
def delete(request: SignedInRequest, companion_id: UUID, lorebook_id: UUID) -> HttpResponse:
    """Ask whether to delete a book with its entries; on POST, delete it."""
    companion = get_companion(request.user, companion_id)
    book = get_lorebook_of(request.user, companion_id, lorebook_id)
    if request.method != "POST":
        context = {"companion": companion, "book": book, "count": book.entries.count()}
        return render(request, "lore/delete.html", context)
    editing.delete_book(book)
    messages.success(request, _("The lorebook has been deleted."))
    return redirect("lore", companion_id)


@page_view
def export(request: SignedInRequest, companion_id: UUID, lorebook_id: UUID) -> HttpResponse:
    """Return the book as a JSON file, which other programs can read as well."""
    book = get_lorebook_of(request.user, companion_id, lorebook_id)
    try:
        content = editing.write_book(book, timezone.now())
    except LoreError as error:
        messages.error(request, str(error.detail))
        return redirect("lorebook", companion_id, lorebook_id)
    return attach(content, "application/json", f"{slugify(book.name) or book.pk}.json")


@form_view
def entry(
    request: SignedInRequest, companion_id: UUID, lorebook_id: UUID, lore_entry_id: UUID | None = None
) -> HttpResponse:
    """Show the form of an entry, or of a new one; on POST, save it."""
    companion = get_companion(request.user, companion_id)
    book = get_lorebook_of(request.user, companion_id, lorebook_id)
    found = get_lore_entry(request.user, lorebook_id, lore_entry_id) if lore_entry_id else None
    form = LoreEntryForm(found, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            if found:
                editing.change_entry(found, form.compose())
            else:
                editing.add_entry(book, form.compose())
        except CompanionsError as error:
            form.add_error(None, str(error.detail))
        else:
            messages.success(request, _("Saved."))
            return redirect("lorebook", companion_id, lorebook_id)
    context = {"companion": companion, "book": book, "entry": found, "form": form}
    return render(request, "lore/entry.html", context, status=UNPROCESSABLE if form.errors else 200)


@form_view
def delete_entry(
    request: SignedInRequest, companion_id: UUID, lorebook_id: UUID, lore_entry_id: UUID
) -> HttpResponse:
    """Ask whether to delete an entry; on POST, delete it."""
    companion = get_companion(request.user, companion_id)
    book = get_lorebook_of(request.user, companion_id, lorebook_id)
    found = get_lore_entry(request.user, lorebook_id, lore_entry_id)
    if request.method != "POST":
        return render(
            request, "lore/delete_entry.html", {"companion": companion, "book": book, "entry": found}
        )
    found.delete()
    messages.success(request, _("The entry has been deleted."))
    return redirect("lorebook", companion_id, lorebook_id)

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.authentication import SignedInRequest
from accounts.errors import GateError
from accounts.limits.usage import admit_work
from companions.access import get_companion, get_document
from companions.memories import editing
from companions.models import Companion
from companions.pages.shortcuts import UNPROCESSABLE, embed_question, form_view, page_view, post_view
from memory.documents.gists import DONE, state_of, with_progress
from memory.documents.intake import read_file
from memory.documents.lookup import LookedUp, Question, look_up
from memory.errors import DocumentError
from memory.models import Document
from memory.models.document import TITLE_CHARACTERS
from text.strings import is_storable

PAGE_SIZE = 10
QUESTION_CHARACTERS = 1_000
TOO_MANY_REQUESTS = 429


class DocumentForm(forms.Form):
    """A long text for the companion to read: pasted, or a file."""

    title = forms.CharField(
        label=gettext_lazy("Title"),
        max_length=TITLE_CHARACTERS,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    text = forms.CharField(
        label=gettext_lazy("Text"), required=False, strip=False, widget=forms.Textarea(attrs={"rows": 7})
    )
    file = forms.FileField(
        label=gettext_lazy("Or a file"),
        required=False,
        allow_empty_file=True,
        help_text=gettext_lazy(
            "Plain text or Markdown, at most 2,000,000 characters. Without a title, the file's name is used."
        ),
    )


@page_view
def list_documents(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show the companion's documents, newest first, and the document pages that answer the question in `?q=`."""
    companion = get_companion(request.user, companion_id)
    question = request.GET.get("q", "").strip()[:QUESTION_CHARACTERS]
    looked_up = _look_up(companion, question) if question else []
    return _page(request, companion, question=question, looked_up=looked_up, form=DocumentForm())


def _page(request: SignedInRequest, companion: Companion, status: int = 200, **more: Any) -> HttpResponse:
    every = with_progress(Document.objects.filter(companion=companion)).order_by("-given_at")
    lines = [(document, state_of(document, document.done, document.total)) for document in every]  # type: ignore[attr-defined]
    waits = any(state != DONE for _document, state in lines)
    context = {"companion": companion, "lines": lines, "waits": waits, **more}
    is_part = request.htmx.target == "documents"
    template = "documents/_list.html" if is_part else "documents/documents.html"
    return render(request, template, context, status=status)


def _look_up(companion: Companion, question: str) -> list[LookedUp]:
    if not is_storable(question):
        return []
    now = timezone.now()
    asked = Question(
        text=question,
        now=now,
        zone=companion.user.zone,
        vector=embed_question(companion, question, now, rate="look_ups"),
        names=companion.names,
        with_private=True,
    )
    return look_up(companion.pk, asked)


@post_view
def give(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Save the pasted text or the file as a document; if it cannot be read, say so in the form."""
    companion, form = get_companion(request.user, companion_id), DocumentForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            admit_work(request.user, "documents", timezone.now())
            file, title = form.cleaned_data["file"], form.cleaned_data["title"]
            text = read_file(file.chunks()) if file else form.cleaned_data["text"].replace("\r\n", "\n")
            title = title or (file.name.rpartition(".")[0] or file.name if file else "")
            kept = editing.give_document(companion, title, text, timezone.now())
        except DocumentError as error:
            form.add_error("title" if error.code == "bad_title" else None, str(error.detail))
        except GateError as error:
            form.add_error(None, str(error.detail))
            response = _page(request, companion, TOO_MANY_REQUESTS, form=form)
            response["Retry-After"] = str(error.retry_after_seconds)
            return response
        else:
            outcome = _("%(name)s has it now. The gists of its pages will follow.") % {"name": companion.name}
            messages.success(request, outcome)
            return redirect("document", companion.pk, kept.pk)
    return _page(request, companion, UNPROCESSABLE, form=form)


@page_view
def document(request: SignedInRequest, companion_id: UUID, document_id: UUID) -> HttpResponse:
    """Show a document: its pages with their gists, PAGE_SIZE at a time."""
    shown = get_document(request.user, companion_id, document_id)
    companion = get_companion(request.user, companion_id)
    pages = Paginator(shown.pages.order_by("number"), PAGE_SIZE).get_page(request.GET.get("page"))
    state = state_of(shown, shown.done, shown.total)  # type: ignore[attr-defined]
    context = {"companion": companion, "document": shown, "pages": pages, "state": state}
    is_part = request.htmx.target == "progress"
    return render(request, "documents/_progress.html" if is_part else "documents/document.html", context)


@form_view
def delete(request: SignedInRequest, companion_id: UUID, document_id: UUID) -> HttpResponse:
    """Ask whether to delete a document with all that is remembered of it; on POST, delete it."""
    shown = get_document(request.user, companion_id, document_id)
    if request.method != "POST":
        return render(request, "documents/delete.html", {"companion": shown.companion, "document": shown})
    editing.delete_document(shown, timezone.now())
    messages.success(request, _("It has been deleted, along with all that was remembered from it."))
    return redirect("documents", companion_id)

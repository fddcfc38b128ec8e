"""The pages of the two texts that are kept in revisions: user profile and self-concept."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.authentication import SignedInRequest
from accounts.limits.rates import admit_to
from companions.access import get_companion, get_revision
from companions.conversations.revisions import compare, load_citations
from companions.memories.editing import restore_revision, write_revision
from companions.models import Companion
from companions.pages.shortcuts import UNPROCESSABLE, form_view, page_view
from memory.learning.revisions import load_holding
from memory.models import Revision
from memory.models.revision import MAX_SENTENCES, SENTENCE_CHARACTERS
from text.strings import is_storable

PAGE_SIZE = 20
NAMES = {Revision.About.USER_PROFILE: "profile", Revision.About.SELF_CONCEPT: "self_concept"}


class SentencesForm(forms.Form):
    """Sentences, one a line.

    `before` is the number of the current revision, which is sent with the form to notice a change in the meantime.
    """

    text = forms.CharField(
        label=gettext_lazy("One sentence per line"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 12, "class": "diary-words"}),
    )

    def __init__(self, before: Revision | None, data: Any = None) -> None:
        self.before = before.number if before else 0
        super().__init__(data, initial={"text": before.text if before else ""})
        hint = _("At most %(most)d sentences of up to %(characters)d characters each.")
        limits = {"most": MAX_SENTENCES, "characters": SENTENCE_CHARACTERS}
        self.fields["text"].help_text = hint % limits

    def clean_text(self) -> list[str]:
        """Return the sentences: the lines that are not blank."""
        text: str = self.cleaned_data["text"]
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        wrong = [
            _explain_length(n, line) for n, line in enumerate(lines, 1) if len(line) > SENTENCE_CHARACTERS
        ]
        if len(lines) > MAX_SENTENCES:
            too_many = _("There are %(count)d sentences, but there is room for only %(most)d.")
            wrong.insert(0, too_many % {"count": len(lines), "most": MAX_SENTENCES})
        if not is_storable(text):
            wrong.append(_("This contains characters that are not text."))
        if wrong:
            raise forms.ValidationError(wrong)
        return lines

    def clean(self) -> dict[str, Any]:
        """Refuse the form if there is a newer revision than the one that was edited, so that the person looks again."""
        if self.data.get("number") != str(self.before):
            raise forms.ValidationError(
                _("It was changed in the meantime. What you wrote is still here; save it again to keep it.")
            )
        return self.cleaned_data


def _explain_length(number: int, sentence: str) -> str:
    more = len(sentence) - SENTENCE_CHARACTERS
    text = ngettext(
        "Sentence %(number)d is %(more)d character too long: “%(begin)s…”",
        "Sentence %(number)d is %(more)d characters too long: “%(begin)s…”",
        more,
    )
    return text % {"number": number, "more": more, "begin": sentence[:40]}


def _context(companion: Companion, about: Revision.About, **more: Any) -> dict[str, Any]:
    """Return the context of every page: the companion, and the URL names of the text's pages."""
    name = NAMES[about]
    ways = {way: f"{name}_{way}" for way in ("edit", "compare", "restore")}
    return {"companion": companion, "page_name": name, **ways, **more}


def _revisions(request: SignedInRequest, companion_id: UUID, about: str) -> QuerySet[Revision]:
    return Revision.objects.owned_by(request.user).of(companion_id, about)


@page_view
def revision(request: SignedInRequest, companion_id: UUID, about: Revision.About) -> HttpResponse:
    """Show the current sentences, each with the messages that it comes from and whether it still holds, and a page of
    revisions, newest first.
    """
    companion, every = get_companion(request.user, companion_id), _revisions(request, companion_id, about)
    current = every.first()
    sentences = load_citations(companion_id, current.sentences) if current else []
    holding = {sentence["text"] for sentence in load_holding(current)} if current else set()
    context = _context(
        companion,
        about,
        current=current,
        sentences=sentences,
        untrue={sentence.text for sentence in sentences} - holding,
        is_sourced=any(sentence.said for sentence in sentences),
        revisions=Paginator(every, PAGE_SIZE).get_page(request.GET.get("page")),
    )
    return render(request, "understanding/understanding.html", context)


@form_view
def edit(request: SignedInRequest, companion_id: UUID, about: Revision.About) -> HttpResponse:
    """Show the sentences as a text to edit; on POST, save a new revision."""
    companion = get_companion(request.user, companion_id)
    form = SentencesForm(_revisions(request, companion_id, about).first(), request.POST or None)
    if form.is_bound and form.is_valid():
        admit_to(request.user, "revisions", timezone.now())
        write_revision(companion, about, form.cleaned_data["text"], timezone.now())
        messages.success(request, _("Saved."))
        return redirect(NAMES[about], companion_id)
    status = UNPROCESSABLE if form.is_bound else 200
    return render(request, "understanding/edit.html", _context(companion, about, form=form), status=status)


@page_view
def compare_revisions(request: SignedInRequest, companion_id: UUID, about: Revision.About) -> HttpResponse:
    """Compare two revisions, the earlier first: those numbered `?a=` and `?b=`, or the last two."""
    companion, every = get_companion(request.user, companion_id), _revisions(request, companion_id, about)
    newest = get_object_or_404(every[:1]).number
    usual = {"a": str(max(newest - 1, 1)), "b": str(newest)}
    asked = [request.GET.get(name, number) for name, number in usual.items()]
    if not all(text.isascii() and text.isdigit() and len(text) < 10 for text in asked):
        raise Http404
    earlier, later = (get_object_or_404(every, number=number) for number in sorted(map(int, asked)))
    lines = compare(*([sentence["text"] for sentence in revision.sentences] for revision in (earlier, later)))
    context = _context(companion, about, earlier=earlier, later=later, lines=lines)
    return render(request, "understanding/compare.html", context)


@form_view
def restore(request: SignedInRequest, companion_id: UUID, number: int, about: Revision.About) -> HttpResponse:
    """Ask whether to restore a revision; on POST, restore it as a new one."""
    companion = get_companion(request.user, companion_id)
    earlier = get_revision(request.user, companion_id, about, number)
    if request.method != "POST":
        return render(request, "understanding/restore.html", _context(companion, about, earlier=earlier))
    admit_to(request.user, "revisions", timezone.now())
    try:
        restore_revision(companion, earlier, timezone.now())
    except Revision.DoesNotExist as error:
        raise Http404 from error
    outcome = _("Version %(number)d is the current one again. What was there before is kept as a version.")
    messages.success(request, outcome % {"number": number})
    return redirect(NAMES[about], companion_id)

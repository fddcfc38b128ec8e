"""The pages of earlier talk in files: preview, import, learning from it at night, and undoing an import."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.authentication import SignedInRequest
from accounts.errors import RefusedError
from accounts.idempotency import create_once
from accounts.limits.rates import admit_to
from companions import creation
from companions.access import get_companion, get_past_import, get_past_upload
from companions.models import Companion, PastImport, PastUpload
from companions.models.past import SPEAKER_CHARACTERS, PastForm
from companions.pages.shortcuts import (
    UNPROCESSABLE,
    form_view,
    list_page,
    page_view,
    post_view,
    redirect_whole,
)
from companions.pasts import imports, learning, undo
from companions.pasts.job_progress import measure_progress
from companions.pasts.plan import Choice
from companions.pasts.preview import PASTS_SHOWN, describe, name_form
from companions.pasts.uploads import PastImportError, read_file, read_first_lines
from pasts.past import PastFile
from text.strings import one_line

PAGE_SIZE = 20
UNDOING = PastImport.State.UNDOING.value
UNREAD = "no_past"  # the error code if no speaker is recognised in plain text


class ChoiceForm(forms.Form):
    """What to import of a file: into which companion, which talks, who is the person, and whether to learn from it."""

    companion = forms.UUIDField(required=False)
    name = forms.CharField(required=False, max_length=80)
    person = forms.CharField(required=False, max_length=SPEAKER_CHARACTERS, strip=False)
    talk = forms.TypedMultipleChoiceField(required=False, coerce=int)
    learn = forms.BooleanField(required=False)
    nightly_tokens = forms.IntegerField(
        required=False, min_value=learning.MIN_NIGHTLY, max_value=learning.MAX_NIGHTLY
    )

    def __init__(self, data: QueryDict, read: PastFile) -> None:
        super().__init__(data)
        self.speakers = {message.speaker for past in read.pasts for message in past.messages}
        places = range(min(len(read.pasts), PASTS_SHOWN))
        self.fields["talk"].choices = [(place, place) for place in places]  # type: ignore[attr-defined]

    @property
    def choice(self) -> Choice:
        talks = self.cleaned_data.get("talk") or ()
        if len(talks) == len(self.fields["talk"].choices):  # type: ignore[attr-defined]
            talks = ()  # all, including those beyond the list
        person = self.cleaned_data.get("person") or ""
        return Choice(pasts=tuple(talks), person=person if person in self.speakers else "")

    @property
    def tokens(self) -> int:
        return self.cleaned_data.get("nightly_tokens") or learning.NIGHTLY_TOKENS


@form_view
def past(request: SignedInRequest, past_upload_id: UUID) -> HttpResponse:
    """Show a preview of importing what is chosen of the file; if the form has `remember`, start the import.

    Plain text may be read by a pattern that the person gives.
    """
    upload = get_past_upload(request.user, past_upload_id)
    admit_to(request.user, "pasts", timezone.now())  # each look reads the whole file
    data = request.POST if request.method == "POST" else request.GET
    pattern = data.get("pattern", "").strip() if upload.form == PastForm.TEXT else ""
    try:
        read = read_file(upload.file, pattern)
    except RefusedError as error:
        return _show_refusal(request, upload, data.get("companion", ""), pattern, error)
    form = ChoiceForm(data, read)
    is_valid, refusal = form.is_valid(), ""
    if "remember" in request.POST:
        try:
            if is_valid:
                return _remember(request, upload, read, form, pattern)
            refusal = _("Check your choices: something in them cannot be used.")
        except RefusedError as error:
            refusal = str(error.detail)
    return _show(request, upload, read, form, pattern, refusal)


def _show_refusal(
    request: SignedInRequest, upload: PastUpload, companion_id: str, pattern: str, error: RefusedError
) -> HttpResponse:
    """Say why the file cannot be read; for plain text, ask for the pattern by which its messages begin."""
    is_of_pattern = error.code.startswith("pattern_")
    is_text = is_of_pattern or (upload.form == PastForm.TEXT and error.code == UNREAD)
    try:
        companion = get_companion(request.user, UUID(companion_id))
    except ValueError:
        companion = None
    refusal = "" if is_text else str(error.detail)
    context = {
        "upload": upload,
        "companion": companion,
        "refusal": refusal,
        "is_text": is_text,
        "pattern": pattern,
        "written": pattern,
        "problem": str(error.detail) if is_of_pattern else "",
        "first_lines": read_first_lines(upload.file) if is_text else (),
    }
    status = UNPROCESSABLE if refusal or is_of_pattern else 200
    return render(request, "pasts/past.html", context, status=status)


def _show(
    request: SignedInRequest,
    upload: PastUpload,
    read: PastFile,
    form: ChoiceForm,
    pattern: str,
    refusal: str,
) -> HttpResponse:
    given = form.cleaned_data.get("companion")
    companion = get_companion(request.user, given) if given else None
    shown = describe(read, companion, form.choice, timezone.now(), form.tokens)
    name = form.cleaned_data.get("name") or shown.name
    is_renamed = any(speaker.is_person and speaker.label == name for speaker in shown.speakers)
    is_part = request.htmx.target == "past-figures"
    context: dict[str, Any] = {
        "upload": upload,
        "refusal": refusal,
        "is_part": is_part,
        "shown": shown,
        "companion": companion,
        "companions": Companion.objects.owned_by(request.user).order_by("-created_at"),
        "name": shown.name if is_renamed else name,  # not the name of the speaker who is the person
        "is_renamed": is_renamed,
        "is_text": read.form == PastForm.TEXT,
        "pattern": pattern,
        "written": pattern or read.pattern,
        "first_lines": () if is_part or read.form != PastForm.TEXT else read_first_lines(upload.file),
        "learns": form.cleaned_data.get("learn", False),
        "least": learning.MIN_NIGHTLY,
        "most": learning.MAX_NIGHTLY,
    }
    template = "pasts/_figures.html" if is_part else "pasts/past.html"
    return render(request, template, context, status=UNPROCESSABLE if refusal else 200)


def _remember(
    request: SignedInRequest, upload: PastUpload, read: PastFile, form: ChoiceForm, pattern: str
) -> HttpResponse:
    """Begin the import into the chosen companion or a new one, and go to its imports; raise RefusedError."""
    now = timezone.now()
    wanted = imports.Wanted(
        choice=form.choice,
        pattern=pattern,
        nightly_tokens=form.tokens if form.cleaned_data["learn"] else None,
    )
    given = form.cleaned_data["companion"]
    found = get_companion(request.user, given) if given else None

    @transaction.atomic
    def make() -> UUID:
        companion = found
        if companion is None:
            name = one_line(form.cleaned_data["name"])[:80]
            if not name:
                raise PastImportError("no_name", _("Give the new companion a name."))
            admit_to(request.user, "companions", now)
            companion = creation.create(request.user, name=name, now=now)
        return imports.begin(companion, upload, read, wanted, now).pk

    made_id, _is_new = create_once(request.user, "import_past", str(upload.pk), "", make)  # idempotent
    return redirect("imports", PastImport.objects.get(pk=made_id).companion_id)


@page_view
def list_imports(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show a page of the companion's imports, newest first, with their progress and actions."""
    companion = get_companion(request.user, companion_id)
    mine = PastImport.objects.filter(companion=companion).select_related("job")
    listed, following = list_page([(mine, "created_at")], request.GET.get("cursor"), PAGE_SIZE)
    lines = [_describe(past) for past in listed]
    context = {
        "companion": companion,
        "lines": lines,
        "following": following,
        "waits": any(line["state"] in {"waiting", "running", UNDOING} for line in lines),
        "least": learning.MIN_NIGHTLY,
        "most": learning.MAX_NIGHTLY,
    }
    is_part = request.htmx.target == "imports"
    return render(request, "pasts/_list.html" if is_part else "pasts/imports.html", context)


def _describe(past: PastImport) -> dict[str, Any]:
    state, done = measure_progress(past.job)
    if past.state == PastImport.State.UNDOING:
        state = UNDOING  # even if it has ended since `past` was read: the next look no longer lists it
    nightly = past.nightly_tokens or learning.NIGHTLY_TOKENS
    learnt = learning.count_progress(past) if past.learning != PastImport.Learning.NONE else None
    is_over = past.learning == PastImport.Learning.DONE
    cost = learning.estimate_rest(past) if past.state == PastImport.State.DONE and not is_over else None
    return {
        "past": past,
        "form": name_form(past.form),
        "state": state,
        "done": done,
        "total": past.job.total,
        "learnt": learnt,
        "spent": f"{past.tokens_spent:,}",
        "cost": cost,
        "tokens": f"{cost.tokens:,}" if cost else "",
        "nightly": nightly,
        "nightly_told": f"{nightly:,}",
    }


@post_view
def change_learning(request: SignedInRequest, companion_id: UUID, import_id: UUID) -> HttpResponse:
    """Start, resume or pause learning from an import, or change its tokens a night."""
    past = get_past_import(request.user, companion_id, import_id)
    do, tokens = request.POST.get("do", ""), request.POST.get("nightly_tokens", "")[:9]
    learning.change_learning(
        past,
        timezone.now(),
        is_running={"run": True, "pause": False}.get(do),
        nightly_tokens=int(tokens) if tokens.isdecimal() else None,
    )
    messages.success(request, _("Saved."))
    return redirect("imports", companion_id)


@form_view
def undo_import(request: SignedInRequest, companion_id: UUID, import_id: UUID) -> HttpResponse:
    """Ask whether to undo the import with all that came of it; on POST, begin to undo it."""
    past = get_past_import(request.user, companion_id, import_id)
    if request.method != "POST":
        context = {"companion": past.companion, "past": past, "form": name_form(past.form)}
        return render(request, "pasts/undo.html", context)
    undo.begin_undo(past, timezone.now())
    return redirect_whole(request, "imports", companion_id)

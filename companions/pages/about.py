"""The pages of a companion's character: its texts with their sizes, a try-out of unsaved texts, and the versions."""

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import get_language, ngettext, override
from django.utils.translation import gettext as _

from accounts.authentication import SignedInRequest
from accounts.limits import admission
from accounts.limits.rates import admit_to
from companions import character_versions
from companions.access import get_character_version, get_companion
from companions.errors import TextError
from companions.events import describe_failure
from companions.models import CharacterVersion
from companions.pages.character_forms import AboutForm
from companions.pages.context import show_size_warning, warn_of_size
from companions.pages.refusals import refusals_as_json
from companions.pages.shortcuts import UNPROCESSABLE, form_view, page_view, post_view
from companions.replies.preview import COUNTED_FIELDS, CharacterSize, measure_character
from companions.replies.trial import Trial, begin_trial, stream_trial
from jobs.background import in_thread
from providers.chat.events import Retracted
from providers.errors import ProviderError
from providers.tokens import estimate
from text.strings import join_sentences

MAX_COUNTED_CHARACTERS = 200_000  # of a text that is not valid, e.g. too long for its field


@form_view
def about(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show the form for a companion's name, texts and colour; on POST, save it."""
    companion = get_companion(request.user, companion_id)
    form = AboutForm(request.POST or None, instance=companion)
    if form.is_bound and form.is_valid():
        companion.save(
            update_fields=list(form.fields), changed_by=CharacterVersion.By.PAGE, now=timezone.now()
        )
        messages.success(request, _("Saved."))
        show_size_warning(request, companion)
        return redirect("about", companion.pk)
    status = UNPROCESSABLE if form.is_bound else 200
    shown = get_companion(request.user, companion_id)  # as saved: the form changed its instance
    size = measure_character(shown)
    context: dict[str, Any] = {
        "companion": shown,
        "form": form,
        "counts": describe_counts(size.texts),
        "size": describe_size(size),
        "warning": warn_of_size(shown) if size.is_crowded else "",
        "versions": shown.versions.count(),
        "most": settings.MESSAGE_CHARACTERS,
    }
    return render(request, "companions/about.html", context, status=status)


@post_view
def count(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Return as JSON, in words, how much of the context the texts in the form take.

    A text that is not valid is counted by itself; in the total, the saved text counts instead.
    """
    companion = get_companion(request.user, companion_id)
    admit_to(request.user, "counts", timezone.now())
    form = AboutForm(request.POST, instance=companion)
    form.is_valid()
    size = measure_character(companion)
    texts = {**size.texts, **{name: _count_raw(form, name) for name in form.errors if name in size.texts}}
    shown = {"counts": describe_counts(texts), "total": describe_size(size)}
    return JsonResponse({**shown, "warning": warn_of_size(companion) if size.is_crowded else ""})


def _count_raw(form: AboutForm, name: str) -> int:
    value = form[name].data
    text = "\n".join(value) if isinstance(value, list) else value or ""
    return estimate(text[:MAX_COUNTED_CHARACTERS])


def describe_counts(texts: Mapping[str, int]) -> dict[str, str]:
    """Return in words how many tokens each text takes ("" for none). Tokens are called word pieces, for readers."""
    told = {}
    for name in (*COUNTED_FIELDS, "alternate_greetings"):
        number = texts[name]
        sentence = ngettext("about %(count)s word piece", "about %(count)s word pieces", number)
        told[name] = sentence % {"count": f"{number:,}"} if number else ""
    return told


def describe_size(size: CharacterSize) -> str:
    """Return one to three sentences on how much of the model's context the character takes."""
    told = _("Always read: about %(always)s of the %(context)s word pieces that the model can read at once.")
    parts = [told % {"always": f"{size.always:,}", "context": f"{size.context:,}"}]
    if size.examples:
        examples = _("The example dialogue takes another %(count)s, as long as there is room.")
        parts.append(examples % {"count": f"{size.examples:,}"})
    if size.greeting:
        parts.append(_("The greeting takes %(count)s, but only once.") % {"count": f"{size.greeting:,}"})
    return join_sentences(parts)


# -- the try-out


@post_view
@refusals_as_json
async def try_out(request: SignedInRequest, companion_id: UUID) -> HttpResponseBase:
    """Stream what the companion would answer to `text` with the texts in the form, as JSON lines. Nothing is saved."""
    try:
        trial = await in_thread(_begin_trial, request, companion_id)
    except ProviderError as error:
        return JsonResponse({"code": error.code, "detail": describe_failure(error.code)}, status=503)
    await admission.take("streams")
    admission.step_aside()
    lines = _stream_lines(trial, get_language() or "en")
    response = StreamingHttpResponse(lines, content_type="application/x-ndjson")
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    return response


def _begin_trial(request: SignedInRequest, companion_id: UUID) -> Trial:
    """Return a try-out of the form's texts; raise TextError if the form is not valid, or GateError."""
    companion = get_companion(request.user, companion_id)
    form = AboutForm(request.POST, instance=companion)
    if not form.is_valid():
        wrong = "; ".join(f"{form[name].label}: {errors[0]}" for name, errors in form.errors.items())
        raise TextError("not_valid", wrong)
    return begin_trial(companion, request.POST.get("text", "").strip(), timezone.now())


async def _stream_lines(trial: Trial, language: str) -> AsyncIterator[bytes]:
    """Yield the lines of JSON: `rehearsed` first, then each `piece`, and finally `done` or `error`.

    `again` means that all pieces before it are withdrawn. `done` comes with the recalled memories that bear on the
    answer, as HTML.
    """
    answer = ""
    yield _line(rehearsed=trial.providers[0].is_rehearsal)
    try:
        async with aclosing(stream_trial(trial, timezone.now)) as parts:
            async for part in parts:
                if isinstance(part, str):
                    answer += part
                    yield _line(piece=part)
                elif isinstance(part, Retracted):
                    answer = ""
                    yield _line(again=True)
    except ProviderError as error:
        with override(language):
            detail = describe_failure(error.code)
        yield _line(error=detail)
    else:
        yield _line(done=True, recalled=await in_thread(_render_recalled, trial, answer, language))


def _render_recalled(trial: Trial, answer: str, language: str) -> str:
    """Return the recalled memories that bear on the answer as HTML, in the given language and the person's zone."""
    recalled = trial.list_recalled(answer)
    if not recalled:
        return ""
    with override(language), timezone.override(trial.companion.user.zone):
        context = {"companion": trial.companion, "recalled": recalled}
        return render_to_string("companions/_recalled.html", context)


def _line(**fields: Any) -> bytes:
    return orjson.dumps(fields) + b"\n"


# -- versions


@page_view
def versions(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show the versions of the character, newest first, each with the fields that were changed after it."""
    companion = get_companion(request.user, companion_id)
    listed = [
        (version, [character_versions.label_of(name) for name in version.changed])
        for version in companion.versions.defer("texts")
    ]
    return render(request, "companions/versions.html", {"companion": companion, "versions": listed})


@page_view
def version(request: SignedInRequest, companion_id: UUID, version_id: UUID) -> HttpResponse:
    """Show how one version differs from the texts that followed it, and from the current ones if those are others."""
    companion = get_companion(request.user, companion_id)
    found = get_character_version(request.user, companion_id, version_id)
    later, current = character_versions.find_later_texts(found), character_versions.get_texts(companion)
    differences = character_versions.compare_texts(found.texts, later)
    since = character_versions.compare_texts(found.texts, current)
    context = {
        "companion": companion,
        "version": found,
        "differences": differences,
        "since": [] if since == differences else since,
        "holds": not since,
    }
    return render(request, "companions/version.html", context)


@post_view
def restore_version(request: SignedInRequest, companion_id: UUID, version_id: UUID) -> HttpResponse:
    """Restore the version's texts."""
    companion = get_companion(request.user, companion_id)
    found = get_character_version(request.user, companion_id, version_id)
    if character_versions.restore_version(companion, found, timezone.now()):
        messages.success(
            request, _("That version is the current one again. What was there before is kept as a version.")
        )
    else:
        messages.info(request, _("That is already the current version."))
    return redirect("about", companion.pk)


@form_view
def delete_version(request: SignedInRequest, companion_id: UUID, version_id: UUID) -> HttpResponse:
    """Ask whether to delete a version; on POST, delete it."""
    companion = get_companion(request.user, companion_id)
    found = get_character_version(request.user, companion_id, version_id)
    if request.method != "POST":
        context = {"companion": companion, "version": found}
        return render(request, "companions/delete_version.html", context)
    found.delete()
    messages.success(request, _("The version has been deleted."))
    return redirect("character_versions", companion.pk)

"""The gallery's pages: the list, one character with its whole card, the person's own publications, and reports."""

from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.authentication import SignedInRequest
from accounts.errors import RefusedError
from accounts.limits.rates import admit_to
from companions.access import get_companion
from companions.errors import CompanionsError, GalleryError
from companions.face.drawing import render_portrait, respond_with_drawing
from companions.gallery import catalogue, decisions, submission
from companions.gallery.adoption import adopt
from companions.gallery.publication import NO_CHARACTER, compose_publication
from companions.models import Companion, GalleryCharacter, GalleryVersion
from companions.pages.context import show_size_warning
from companions.pages.gallery_forms import PublicationForm, QuestionForm, ReportForm
from companions.pages.shortcuts import (
    UNPROCESSABLE,
    form_view,
    list_page,
    page_view,
    post_view,
    read_beginning,
)
from files.responses import serve_on_page
from safety.models import Notice
from safety.notices import mark_kind_seen
from text.strings import storable

ENTRIES, TAGS = 24, 12  # on a page
State = GalleryVersion.State


@page_view
def gallery(request: SignedInRequest) -> HttpResponse:
    """Show the approved characters, newest first, then Kith's own, filtered by words, tag, language and age rating."""
    catalogue.require_open()
    form = QuestionForm(request.user, request.GET)
    question, cursor = form.question, request.GET.get("cursor")
    found = catalogue.find_versions(request.user, question).select_related("picture")
    versions, following = list_page([(found, "decided_at")], cursor, ENTRIES)
    own = [] if following else catalogue.find_own(question)
    entries = [*map(catalogue.make_entry, versions), *own]
    context = {
        "form": form,
        "question": question,
        "entries": entries,
        "tags": catalogue.list_tags(entries)[:TAGS],
        "key": uuid4(),
        "following": following,
        "has_published": GalleryCharacter.objects.owned_by(request.user).exists(),
    }
    return render(request, "gallery/gallery.html", context)


@form_view
def character(request: SignedInRequest, character_id: UUID) -> HttpResponse:
    """Show all that a character's card holds, including its hidden parts; on POST, make a companion of it."""
    catalogue.require_open()
    entry = catalogue.find_entry(request.user, character_id)
    refusal = ""
    if request.method == "POST":
        name, greeting = read_beginning(request)
        try:
            admit_to(request.user, "companions", timezone.now())
            made_id = adopt(
                request.user,
                entry,
                timezone.now(),
                key=storable(request.POST.get("key", ""))[:100] or str(uuid4()),
                name=name,
                greeting=greeting,
            )
        except RefusedError as error:
            refusal = str(error.detail)
        else:
            show_size_warning(request, get_companion(request.user, made_id))
            return redirect("talk", made_id)
    context: dict[str, Any] = {
        "entry": entry,
        "shown": catalogue.preview(catalogue.compose_card(entry), request.user.name or _("you")),
        "history": catalogue.list_history(entry),
        "can_report": catalogue.is_open_to_report(request.user, entry),
        "can_start": entry.version is None or entry.version.state == State.APPROVED,
        "is_mine": entry.version is not None and entry.version.character.user_id == request.user.pk,
        "key": uuid4(),
        "refusal": refusal,
    }
    return render(request, "gallery/character.html", context, status=UNPROCESSABLE if refusal else 200)


@require_safe
@login_required
def picture(request: SignedInRequest, gallery_version_id: UUID) -> HttpResponseBase:
    """Return the picture or drawn face of a published character's version, for whoever may see that version."""
    version = catalogue.get_picture(request.user, gallery_version_id)
    if version.character.user_id != request.user.pk:
        catalogue.require_open()
    if version.picture is None:
        return respond_with_drawing(
            request, render_portrait(catalogue.make_entry(version).features, hue=version.tint)
        )
    return serve_on_page(request, version.picture)


@form_view
def report(request: SignedInRequest, character_id: UUID) -> HttpResponse:
    """Show the form to report a character to the operators; on POST, send the report."""
    catalogue.require_open()
    entry = catalogue.find_entry(request.user, character_id)
    form = ReportForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            admit_to(request.user, "reports", timezone.now())
            fields = form.cleaned_data
            decisions.report(request.user, entry, fields["kind"], fields["text"], timezone.now())
        except GalleryError as error:
            form.add_error(None, str(error.detail))
        else:
            messages.success(request, _("Thank you. The operators of this Kith will look into it."))
            return redirect("gallery_character", character_id)
    context = {"entry": entry, "form": form}
    return render(request, "gallery/report.html", context, status=UNPROCESSABLE if form.is_bound else 200)


# -- the person's own -------------------------------------------------------------------------------


@page_view
def published(request: SignedInRequest) -> HttpResponse:
    """Show what the person has published, with the state of each version and the reason for it."""
    mark_kind_seen(request.user, Notice.Kind.PUBLICATION, timezone.now())
    mine = catalogue.list_published(request.user).select_related("companion")
    return render(
        request, "gallery/published.html", {"characters": [_describe(character) for character in mine]}
    )


def _describe(character: GalleryCharacter) -> dict[str, Any]:
    versions = list(character.versions.all())
    states = {version.state for version in versions}
    return {
        "character": character,
        "newest": versions[0],
        "entry": catalogue.make_entry(versions[0]),
        "versions": versions,
        "is_seen": State.APPROVED in states,
        "can_withdraw": bool({State.APPROVED, State.WAITING} & states),
    }


@form_view
def publish(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show exactly what would be published of a companion, and the form for the terms; on POST, submit it."""
    catalogue.require_open()
    companion = get_companion(request.user, companion_id)
    keeps_name = request.POST.get("keeps_name", request.GET.get("keeps_name", "")) == "on"
    try:
        publication = compose_publication(companion, keeps_name=keeps_name)
    except CompanionsError as error:
        if error.code == NO_CHARACTER:
            context = {"companion": companion, "missing": str(error.detail)}
            status = UNPROCESSABLE if request.method == "POST" else 200
            return render(request, "gallery/nothing_to_publish.html", context, status=status)
        messages.error(request, str(error.detail))
        return redirect("companion", companion.pk)
    versions = GalleryVersion.objects.filter(character__companion=companion)
    before = versions.order_by("-number").first()
    form = PublicationForm(companion, publication, request.POST or None, before=before)
    if request.method == "POST" and form.is_valid():
        try:
            _submit(request, companion, form)
        except RefusedError as error:
            if error.code == submission.COMPANION_DELETED:
                messages.error(request, str(error.detail))
                return redirect("companions")
            name = getattr(error, "field", "")
            form.add_error(name if name in form.fields else None, str(error.detail))
        else:
            messages.success(
                request, _("It has been sent. An operator will look at it before anybody else can see it.")
            )
            return redirect("published")
    form.focus_error()
    context = {
        "companion": companion,
        "form": form,
        "warnings": publication.warnings,
        "shown": catalogue.preview(publication.content),
        "digest": publication.digest,
        "is_anew": before is not None,
        "is_seen": versions.filter(state=State.APPROVED).exists(),
    }
    return render(request, "gallery/publish.html", context, status=UNPROCESSABLE if form.is_bound else 200)


def _submit(request: SignedInRequest, companion: Companion, form: PublicationForm) -> None:
    now, terms = timezone.now(), form.terms
    admit_to(request.user, "publications", now)
    submission.check_terms(companion, terms)
    submission.submit(companion, form.publication, terms, submission.copy_picture(companion, now), now)


@post_view
def withdraw(request: SignedInRequest, character_id: UUID) -> HttpResponse:
    try:
        submission.withdraw(catalogue.get_published(request.user, character_id), timezone.now())
    except GalleryError as error:
        messages.error(request, str(error.detail))
    else:
        messages.success(
            request, _("It is no longer in the gallery. Anyone who began with it keeps their companion.")
        )
    return redirect("published")


@form_view
def delete(request: SignedInRequest, character_id: UUID) -> HttpResponse:
    """Ask whether to delete a published character with all its versions; on POST, delete it."""
    found = catalogue.get_published(request.user, character_id)
    if request.method != "POST":
        newest = found.versions.order_by("-number").first()
        return render(request, "gallery/delete.html", {"character": found, "newest": newest})
    try:
        submission.delete_character(found)
    except GalleryError as error:  # it was deleted already, e.g. in another tab
        messages.info(request, str(error.detail))
    else:
        messages.success(request, _("It has been deleted, along with all its versions."))
    return redirect("published")

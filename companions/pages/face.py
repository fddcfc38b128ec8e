"""A companion's face: its editor, its uploaded pictures, and the face itself as an image."""

import secrets
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.errors import CompanionsError
from companions.face.drawing import render_portrait, respond_with_drawing
from companions.face.expressions import express
from companions.face.portraits import (
    SEEDS,
    choose_features,
    draw_features,
    drop_picture,
    find_picture,
    get_features,
    get_seed,
    load_pictures,
    put_picture,
)
from companions.models import Companion
from companions.pages.decorators import UNPROCESSABLE, form_view, page_view, post_view
from companions.pages.forms.face import FaceForm, PictureForm
from files.errors import FilesError
from files.pictures import MOST_BYTES
from files.responses import served
from files.uploads import uploaded
from memory.emotion import Emotion

ANY_SEED = 2**31  # as many as a shuffle may come upon


@form_view
def face(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """The editor: as it is, or as another seed has it (`?seed=`; `?shuffle`: any); posted, it is kept."""
    companion = get_companion(request.user, companion_id)
    if request.method != "POST":
        return _page(request, companion, FaceForm(_shown(request, companion)))
    form = FaceForm(request.POST)
    if not form.is_valid():
        return _page(request, companion, form, status=UNPROCESSABLE)
    choose_features(companion, form.cleaned_data["seed"], asdict(form.features))
    messages.success(request, _("Saved."))
    return redirect("face", companion.pk)


def _shown(request: SignedInRequest, companion: Companion) -> dict[str, Any]:
    """What the form is filled in with."""
    seed = str(secrets.randbelow(ANY_SEED)) if "shuffle" in request.GET else request.GET.get("seed", "")
    if seed.isascii() and seed.isdecimal() and len(seed) <= 19 and int(seed) < SEEDS:
        return {"seed": int(seed), **asdict(draw_features(int(seed)))}
    return {"seed": get_seed(companion), **asdict(get_features(companion))}


def _page(
    request: SignedInRequest,
    companion: Companion,
    form: FaceForm,
    picture_form: PictureForm | None = None,
    status: int = 200,
) -> HttpResponse:
    features = form.features if form.is_valid() else get_features(companion)
    context = {
        "companion": companion,
        "form": form,
        "features": features,
        "emotions": Emotion.choices,
        "pictures": sorted(load_pictures(companion).values(), key=lambda picture: picture.emotion),
        "picture_form": picture_form or PictureForm(),
    }
    return render(request, "face/face.html", context, status=status)


@page_view
def preview(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """The face that the editor's form holds, drawn and not kept; where it holds none, the one that is kept."""
    companion, form = get_companion(request.user, companion_id), FaceForm(request.GET)
    features = form.features if form.is_valid() else get_features(companion)
    return render(request, "face/_preview.html", {"companion": companion, "features": features})


@require_safe
@login_required
def image(request: SignedInRequest, companion_id: UUID) -> HttpResponseBase:
    """The face as an image, as it feels (`?emotion=`): the picture that stands for it, else the drawing."""
    companion = get_companion(request.user, companion_id)
    emotion = request.GET.get("emotion", "")
    emotion = emotion if emotion in Emotion.values else Emotion.NEUTRAL
    picture = find_picture(companion, emotion)
    if picture is None:
        return respond_with_drawing(
            request, render_portrait(get_features(companion), express(emotion), companion.tint)
        )
    try:
        return served(request, picture.file)
    except FilesError as error:
        return JsonResponse({"code": error.code, "detail": str(error.detail)}, status=error.status)


@post_view
def add_picture(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show an uploaded picture in the drawing's place; what is none is told in the form."""
    companion, form = get_companion(request.user, companion_id), PictureForm(request.POST)
    if form.is_valid():
        try:
            put_picture(
                companion, form.cleaned_data["emotion"], uploaded(request, MOST_BYTES), timezone.now()
            )
        except (FilesError, CompanionsError) as error:
            form.add_error(None, str(error.detail))
            shown = FaceForm(_shown(request, companion))
            return _page(request, companion, shown, form, status=error.status)
        messages.success(request, _("The picture is shown from now on."))
        return redirect("face", companion.pk)
    return _page(request, companion, FaceForm(_shown(request, companion)), form, status=UNPROCESSABLE)


@post_view
def remove_picture(request: SignedInRequest, companion_id: UUID, emotion: str) -> HttpResponse:
    """Take a picture back: it is deleted, and the drawing is seen again."""
    companion = get_companion(request.user, companion_id)
    try:
        is_gone = drop_picture(companion, "" if emotion == "always" else emotion)
    except CompanionsError as error:
        raise Http404 from error
    if is_gone:
        messages.success(request, _("The picture is deleted."))
    return redirect("face", companion.pk)

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
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.signed_in import SignedInRequest
from companions.errors import CompanionsError
from companions.face_forms import FaceForm, PictureForm
from companions.models import Companion
from companions.portrait import expression, of_seed, svg
from companions.portrait.giving import drawn
from companions.portrait.owned import (
    SEEDS,
    choose,
    features_of,
    picture_for,
    pictures_of,
    put_picture,
    seed_of,
    take_back,
)
from companions.views.finding import my_companion
from files.errors import FilesError
from files.pictures import MOST_BYTES
from files.serving import served
from files.uploading import uploaded
from memory.emotion import Emotion

UNPROCESSABLE = 422
ANY_SEED = 2**31  # as many as a shuffle may come upon


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def face(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """The editor: as it is, or as another seed has it (`?seed=`; `?shuffle`: any); posted, it is kept."""
    companion = my_companion(request, companion_id)
    if request.method != "POST":
        return _page(request, companion, FaceForm(_shown(request, companion)))
    form = FaceForm(request.POST)
    if not form.is_valid():
        return _page(request, companion, form, status=UNPROCESSABLE)
    choose(companion, form.cleaned_data["seed"], asdict(form.features))
    messages.success(request, _("Saved."))
    return redirect("face", companion.pk)


def _shown(request: SignedInRequest, companion: Companion) -> dict[str, Any]:
    """What the form is filled in with."""
    seed = str(secrets.randbelow(ANY_SEED)) if "shuffle" in request.GET else request.GET.get("seed", "")
    if seed.isascii() and seed.isdecimal() and len(seed) <= 19 and int(seed) < SEEDS:
        return {"seed": int(seed), **asdict(of_seed(int(seed)))}
    return {"seed": seed_of(companion), **asdict(features_of(companion))}


def _page(
    request: SignedInRequest,
    companion: Companion,
    form: FaceForm,
    picture_form: PictureForm | None = None,
    status: int = 200,
) -> HttpResponse:
    features = form.features if form.is_valid() else features_of(companion)
    context = {
        "companion": companion,
        "form": form,
        "features": features,
        "emotions": Emotion.choices,
        "pictures": sorted(pictures_of(companion).values(), key=lambda one: one.emotion),
        "picture_form": picture_form or PictureForm(),
    }
    return render(request, "face/face.html", context, status=status)


@require_safe
@login_required
@never_cache
def preview(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """The face that the editor's form holds, drawn and not kept; where it holds none, the one that is kept."""
    companion, form = my_companion(request, companion_id), FaceForm(request.GET)
    features = form.features if form.is_valid() else features_of(companion)
    return render(request, "face/_preview.html", {"companion": companion, "features": features})


@require_safe
@login_required
def image(request: SignedInRequest, companion_id: UUID) -> HttpResponseBase:
    """The face as an image, as it feels (`?emotion=`): the picture that stands for it, else the drawing."""
    companion = my_companion(request, companion_id)
    emotion = request.GET.get("emotion", "")
    emotion = emotion if emotion in Emotion.values else Emotion.NEUTRAL
    picture = picture_for(companion, emotion)
    if picture is None:
        return drawn(request, svg(features_of(companion), expression(emotion), companion.tint))
    try:
        return served(request, picture.file)
    except FilesError as error:
        return JsonResponse({"code": error.code, "detail": str(error.detail)}, status=error.status)


@require_POST
@login_required
def add_picture(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show an uploaded picture in the drawing's place; what is none is told in the form."""
    companion, form = my_companion(request, companion_id), PictureForm(request.POST)
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


@require_POST
@login_required
def remove_picture(request: SignedInRequest, companion_id: UUID, emotion: str) -> HttpResponse:
    """Take a picture back: it is deleted, and the drawing is seen again."""
    companion = my_companion(request, companion_id)
    try:
        is_gone = take_back(companion, "" if emotion == "always" else emotion)
    except CompanionsError as error:
        raise Http404 from error
    if is_gone:
        messages.success(request, _("The picture is deleted."))
    return redirect("face", companion.pk)

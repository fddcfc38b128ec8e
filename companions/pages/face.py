"""A companion's face: its editor, its uploaded pictures, and the face itself as an image."""

import secrets
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_safe

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.errors import CompanionsError
from companions.face.drawing import render_portrait, respond_with_drawing
from companions.face.expressions import express
from companions.face.portraits import (
    ALWAYS,
    SEEDS,
    TABLES,
    Features,
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
from companions.pages.shortcuts import UNPROCESSABLE, form_view, page_view, post_view
from files.errors import FilesError
from files.pictures import MAX_BYTES
from files.responses import serve_on_page
from files.uploads import read_upload
from memory.emotion import Emotion

Words = dict[str, Any]  # with lazy translations as values
ANY_SEED = 2**31  # the range of the seeds that a shuffle draws

LABELS: Words = {
    "skin": gettext_lazy("Skin"),
    "face": gettext_lazy("Face"),
    "hair": gettext_lazy("Hair"),
    "hair_colour": gettext_lazy("Hair colour"),
    "brows": gettext_lazy("Eyebrows"),
    "eyes": gettext_lazy("Eyes"),
    "eye_colour": gettext_lazy("Eye colour"),
    "nose": gettext_lazy("Nose"),
    "mouth": gettext_lazy("Mouth"),
    "beard": gettext_lazy("Beard"),
    "skin_marks": gettext_lazy("Marks on the skin"),
    "glasses": gettext_lazy("Glasses"),
    "earrings": gettext_lazy("Earrings"),
    "clothes": gettext_lazy("Clothes"),
    "cloth_colour": gettext_lazy("Colour of the clothes"),
}
NAMES: dict[str, Words] = {
    "skin": {
        "porcelain": pgettext_lazy("skin", "porcelain"), "fair": pgettext_lazy("skin", "fair"),
        "peach": pgettext_lazy("skin", "peach"), "honey": pgettext_lazy("skin", "honey"),
        "olive": pgettext_lazy("skin", "olive"), "caramel": pgettext_lazy("skin", "caramel"),
        "bronze": pgettext_lazy("skin", "bronze"), "umber": pgettext_lazy("skin", "umber"),
        "cocoa": pgettext_lazy("skin", "cocoa"), "ebony": pgettext_lazy("skin", "ebony"),
    },
    "face": {
        "oval": pgettext_lazy("face", "oval"), "round": pgettext_lazy("face", "round"),
        "heart": pgettext_lazy("face", "heart-shaped"), "square": pgettext_lazy("face", "square"),
        "long": pgettext_lazy("face", "long"),
    },
    "hair": {
        "crop": pgettext_lazy("hair", "cropped"), "parted": pgettext_lazy("hair", "side parting"),
        "swept": pgettext_lazy("hair", "swept up"), "fringe": pgettext_lazy("hair", "bob with a fringe"),
        "bob": pgettext_lazy("hair", "bob"), "long": pgettext_lazy("hair", "long"),
        "waves": pgettext_lazy("hair", "waves"), "bun": pgettext_lazy("hair", "bun"),
        "tail": pgettext_lazy("hair", "ponytail"), "curls": pgettext_lazy("hair", "curls"),
        "cloud": pgettext_lazy("hair", "afro"), "coils": pgettext_lazy("hair", "short coils"),
        "locs": pgettext_lazy("hair", "locs"), "pixie": pgettext_lazy("hair", "pixie"),
        "braid": pgettext_lazy("hair", "braid"), "buzz": pgettext_lazy("hair", "buzz cut"),
        "bald": pgettext_lazy("hair", "bald"), "scarf": pgettext_lazy("hair", "headscarf"),
    },
    "hair_colour": {
        "ink": pgettext_lazy("hair colour", "black"), "coffee": pgettext_lazy("hair colour", "dark brown"),
        "chestnut": pgettext_lazy("hair colour", "chestnut"), "auburn": pgettext_lazy("hair colour", "auburn"),
        "copper": pgettext_lazy("hair colour", "copper"), "honey": pgettext_lazy("hair colour", "dark blond"),
        "straw": pgettext_lazy("hair colour", "blond"), "ash": pgettext_lazy("hair colour", "grey"),
        "silver": pgettext_lazy("hair colour", "silver"), "plum": pgettext_lazy("hair colour", "plum"),
        "slate": pgettext_lazy("hair colour", "slate blue"), "rosewood": pgettext_lazy("hair colour", "rosewood"),
    },
    "brows": {
        "soft": pgettext_lazy("brows", "soft"), "straight": pgettext_lazy("brows", "straight"),
        "arched": pgettext_lazy("brows", "arched"), "full": pgettext_lazy("brows", "full"),
    },
    "eyes": {
        "almond": pgettext_lazy("eyes", "almond"), "round": pgettext_lazy("eyes", "round"),
        "upturned": pgettext_lazy("eyes", "upturned"), "hooded": pgettext_lazy("eyes", "hooded"),
        "lashes": pgettext_lazy("eyes", "with lashes"),
    },
    "eye_colour": {
        "brown": pgettext_lazy("eye colour", "brown"), "dark": pgettext_lazy("eye colour", "dark"),
        "hazel": pgettext_lazy("eye colour", "hazel"), "green": pgettext_lazy("eye colour", "green"),
        "grey": pgettext_lazy("eye colour", "grey"), "blue": pgettext_lazy("eye colour", "blue"),
    },
    "nose": {
        "button": pgettext_lazy("nose", "small"), "straight": pgettext_lazy("nose", "straight"),
        "broad": pgettext_lazy("nose", "broad"), "long": pgettext_lazy("nose", "long"),
        "soft": pgettext_lazy("nose", "soft"),
    },
    "mouth": {
        "plain": pgettext_lazy("mouth", "plain"), "full": pgettext_lazy("mouth", "full"),
        "small": pgettext_lazy("mouth", "small"), "wide": pgettext_lazy("mouth", "wide"),
    },
    "beard": {
        "none": pgettext_lazy("beard", "none"), "stubble": pgettext_lazy("beard", "stubble"),
        "moustache": pgettext_lazy("beard", "moustache"), "short": pgettext_lazy("beard", "short"),
        "full": pgettext_lazy("beard", "full"),
    },
    "skin_marks": {
        "none": pgettext_lazy("skin marks", "none"), "freckles": pgettext_lazy("skin marks", "freckles"),
        "mole": pgettext_lazy("skin marks", "a mole"), "lines": pgettext_lazy("skin marks", "age lines"),
    },
    "glasses": {
        "none": pgettext_lazy("glasses", "none"), "round": pgettext_lazy("glasses", "round"),
        "square": pgettext_lazy("glasses", "square"), "fine": pgettext_lazy("glasses", "thin"),
    },
    "earrings": {
        "none": pgettext_lazy("earrings", "none"), "studs": pgettext_lazy("earrings", "studs"),
        "hoops": pgettext_lazy("earrings", "hoops"), "drops": pgettext_lazy("earrings", "drops"),
    },
    "clothes": {
        "crew": pgettext_lazy("clothes", "round neck"), "vee": pgettext_lazy("clothes", "V-neck"),
        "shirt": pgettext_lazy("clothes", "shirt"), "turtleneck": pgettext_lazy("clothes", "turtleneck"),
        "hoodie": pgettext_lazy("clothes", "hoodie"), "cardigan": pgettext_lazy("clothes", "cardigan"),
    },
    "cloth_colour": {
        "oat": pgettext_lazy("cloth colour", "oat"), "terracotta": pgettext_lazy("cloth colour", "terracotta"),
        "mustard": pgettext_lazy("cloth colour", "mustard"), "sage": pgettext_lazy("cloth colour", "sage"),
        "forest": pgettext_lazy("cloth colour", "forest green"), "sky": pgettext_lazy("cloth colour", "sky blue"),
        "navy": pgettext_lazy("cloth colour", "navy"), "plum": pgettext_lazy("cloth colour", "plum"),
        "rose": pgettext_lazy("cloth colour", "rose"), "charcoal": pgettext_lazy("cloth colour", "charcoal"),
    },
}  # fmt: skip


class FaceForm(forms.Form):
    """The seed of a face, and a choice for every feature in TABLES."""

    seed = forms.IntegerField(min_value=0, max_value=SEEDS - 1, widget=forms.HiddenInput)

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        for feature, table in TABLES.items():
            choices = [(name, NAMES[feature][name]) for name in table]
            self.fields[feature] = forms.ChoiceField(
                label=LABELS[feature], choices=choices, widget=forms.RadioSelect
            )

    @property
    def features(self) -> Features:
        """The chosen features; only for a valid form."""
        return Features(**{feature: self.cleaned_data[feature] for feature in TABLES})


class PictureForm(forms.Form):
    """The emotion that an uploaded picture is for. The view reads the file itself."""

    emotion = forms.ChoiceField(
        label=gettext_lazy("When it is shown"),
        choices=[("", gettext_lazy("always")), *Emotion.choices],
        required=False,
    )


@form_view
def face(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show the editor with the saved face or that of a seed (`?seed=`, or at random: `?shuffle`); on POST, save it."""
    companion = get_companion(request.user, companion_id)
    if request.method != "POST":
        return _page(request, companion, FaceForm(_get_initial(request, companion)))
    form = FaceForm(request.POST)
    if not form.is_valid():
        return _page(request, companion, form, status=UNPROCESSABLE)
    choose_features(companion, form.cleaned_data["seed"], asdict(form.features))
    messages.success(request, _("Saved."))
    return redirect("face", companion.pk)


def _get_initial(request: SignedInRequest, companion: Companion) -> dict[str, Any]:
    """Return what the editor's form is filled in with."""
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
    """Show the face in the editor's form without saving it, or the saved one if the form is not valid."""
    companion, form = get_companion(request.user, companion_id), FaceForm(request.GET)
    features = form.features if form.is_valid() else get_features(companion)
    return render(request, "face/_preview.html", {"companion": companion, "features": features})


@require_safe
@login_required
def image(request: SignedInRequest, companion_id: UUID) -> HttpResponseBase:
    """Return the face as an image, with the emotion in `?emotion=`: an uploaded picture if one fits, or the drawing."""
    companion = get_companion(request.user, companion_id)
    emotion = request.GET.get("emotion", "")
    emotion = emotion if emotion in Emotion.values else Emotion.NEUTRAL
    picture = find_picture(companion, emotion)
    if picture is None:
        return respond_with_drawing(
            request, render_portrait(get_features(companion), express(emotion), companion.tint)
        )
    return serve_on_page(request, picture.file)


@post_view
def add_picture(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Have an uploaded picture shown instead of the drawing; if it is not a picture, say so in the form."""
    companion, form = get_companion(request.user, companion_id), PictureForm(request.POST)
    if form.is_valid():
        try:
            put_picture(
                companion, form.cleaned_data["emotion"], read_upload(request, MAX_BYTES), timezone.now()
            )
        except (FilesError, CompanionsError) as error:
            form.add_error(None, str(error.detail))
            shown = FaceForm(_get_initial(request, companion))
            return _page(request, companion, shown, form, status=error.status)
        messages.success(request, _("The picture will be shown from now on."))
        return redirect("face", companion.pk)
    return _page(request, companion, FaceForm(_get_initial(request, companion)), form, status=UNPROCESSABLE)


@post_view
def remove_picture(request: SignedInRequest, companion_id: UUID, emotion: str) -> HttpResponse:
    """Delete an uploaded picture, so that the one for all emotions, or else the drawing, is shown again."""
    companion = get_companion(request.user, companion_id)
    try:
        is_gone = drop_picture(companion, "" if emotion == ALWAYS else emotion)
    except CompanionsError as error:
        raise Http404 from error
    if is_gone:
        messages.success(request, _("The picture has been deleted."))
    return redirect("face", companion.pk)

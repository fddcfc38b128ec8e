from typing import Annotated
from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from ninja import Field, Query, Router, Schema, Status
from pydantic import StringConstraints

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.api.schemas import FILE, ListOut, Out, describe_form
from companions.face.drawing import render_portrait, respond_with_drawing
from companions.face.expressions import express
from companions.face.portraits import (
    ALWAYS,
    SEEDS,
    TABLES,
    choose_features,
    drop_picture,
    get_features,
    get_seed,
    load_pictures,
    put_picture,
)
from companions.models import Companion, Picture
from files.pictures import MAX_BYTES
from files.uploads import read_upload
from memory.emotion import Emotion

router = Router(tags=["face"])
PORTRAIT = "/{uuid:companion_id}/portrait"
PICTURES = "/{uuid:companion_id}/pictures"
Name = Annotated[str, StringConstraints(min_length=1, max_length=32)]
FEATURES_IN_WORDS = "; ".join(f"{feature}: {', '.join(table)}" for feature, table in TABLES.items())


class PortraitIn(Schema):
    seed: int | None = Field(
        None, ge=0, lt=SEEDS, description="The seed of the drawn face; if omitted, it stays unchanged."
    )
    features: dict[Name, Name] = Field(
        {},
        max_length=40,
        description=f"The features to choose, instead of those that the seed gives. {FEATURES_IN_WORDS}.",
    )


class PortraitOut(Schema):
    seed: int
    features: dict[str, str] = Field(
        description="All features: the chosen ones, and otherwise those that the seed gives."
    )
    chosen: list[str] = Field(description="The names of the features that were chosen.")


class PictureOut(Schema):
    emotion: str = Field(
        description="The emotion that the picture is shown for; `always` for all emotions that have no "
        "picture of their own."
    )
    file_id: UUID = Field(description="The picture; its content is at /files/{file_id}.")
    width: int
    height: int


class PicturesOut(ListOut[PictureOut]):
    pass


class FeltIn(Schema):
    emotion: Emotion = Emotion.NEUTRAL
    intensity: float = Field(1.0, ge=0, le=1, allow_inf_nan=False)


PICTURE_FORM = describe_form(
    ["file"],
    file={**FILE, "description": "A PNG, JPEG, WebP or GIF of at most 10 MB."},
    emotion={"type": "string", "description": "The emotion to show the picture for; if omitted, always."},
)


@router.get(
    PORTRAIT,
    response=PortraitOut,
    operation_id="get_portrait",
    summary="Get a companion's drawn face: its seed and features",
)
def get_portrait(request: SignedInRequest, companion_id: UUID) -> Out:
    return portrait_out(get_companion(request.user, companion_id))


@router.put(
    PORTRAIT, response=PortraitOut, operation_id="put_portrait", summary="Change a companion's drawn face"
)
def put_portrait(request: SignedInRequest, companion_id: UUID, body: PortraitIn) -> Out:
    companion = get_companion(request.user, companion_id)
    choose_features(companion, get_seed(companion) if body.seed is None else body.seed, body.features)
    return portrait_out(get_companion(request.user, companion_id))


@router.get(
    PORTRAIT + ".svg",
    operation_id="draw_portrait",
    summary="Draw a companion's face, showing an emotion",
    openapi_extra={"responses": {200: {"description": "The drawing.", "content": {"image/svg+xml": {}}}}},
)
def draw_portrait(request: SignedInRequest, companion_id: UUID, feeling: Query[FeltIn]) -> HttpResponse:
    companion = get_companion(request.user, companion_id)
    return respond_with_drawing(
        request,
        render_portrait(get_features(companion), express(feeling.emotion, feeling.intensity), companion.tint),
    )


@router.get(
    PICTURES,
    response=PicturesOut,
    operation_id="list_pictures",
    summary="List the pictures that replace the drawn face",
)
def list_pictures(request: SignedInRequest, companion_id: UUID) -> Out:
    mine = load_pictures(get_companion(request.user, companion_id))
    return {"items": [picture_out(mine[emotion]) for emotion in sorted(mine)], "next": None}


@router.post(
    PICTURES,
    response={201: PictureOut},
    operation_id="put_picture",
    summary="Upload a picture that replaces the drawn face, always or for one emotion",
    openapi_extra=PICTURE_FORM,
)
def add_picture(request: SignedInRequest, companion_id: UUID) -> Status[Out]:
    companion = get_companion(request.user, companion_id)
    content = read_upload(request, MAX_BYTES)
    picture = put_picture(companion, _emotion(request.POST.get("emotion", "")), content, timezone.now())
    return Status(201, picture_out(picture))


@router.delete(
    PICTURES + "/{emotion}",
    response={204: None},
    operation_id="delete_picture",
    summary="Delete a picture: the one for an emotion, or the one for `always`",
)
def delete_picture(request: SignedInRequest, companion_id: UUID, emotion: str) -> Status[None]:
    drop_picture(get_companion(request.user, companion_id), _emotion(emotion))
    return Status(204, None)


def _emotion(name: str) -> str:
    return "" if name == ALWAYS else name


def portrait_out(companion: Companion) -> Out:
    features = get_features(companion)
    portrait = getattr(companion, "portrait", None)
    chosen = sorted(set(portrait.chosen) & set(TABLES)) if portrait else []
    return {
        "seed": get_seed(companion),
        "features": {feature: getattr(features, feature) for feature in TABLES},
        "chosen": chosen,
    }


def picture_out(picture: Picture) -> Out:
    file = picture.file
    return {
        "emotion": picture.emotion or ALWAYS,
        "file_id": file.pk,
        "width": file.width,
        "height": file.height,
    }

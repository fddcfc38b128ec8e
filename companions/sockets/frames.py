"""The frames that a client sends to the socket of a companion."""

from typing import Annotated, Literal
from uuid import UUID

import orjson
from django.utils.translation import gettext as _
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from companions.errors import TextError
from text.strings import is_storable

MAX_FRAME_CHARACTERS = 1_000_000  # over twice the longest message in its longest encoding
MAX_CLIENT_ID_CHARACTERS = 200


class Frame(BaseModel):
    """A frame from the client."""


class MessageSend(Frame):
    type: Literal["message.send"]
    text: str
    client_id: str = Field(min_length=1, max_length=MAX_CLIENT_ID_CHARACTERS)
    quoted: UUID | None = None
    attachments: list[UUID] = Field(default=[], max_length=20)


class ReplyStop(Frame):
    type: Literal["reply.stop"]
    id: UUID


class ReplyResume(Frame):
    type: Literal["reply.resume"]
    id: UUID
    after: int = Field(0, ge=0, le=2**31 - 1)


class Ping(Frame):
    type: Literal["ping"]


FRAMES = MessageSend | ReplyStop | ReplyResume | Ping
TALK: TypeAdapter[Frame] = TypeAdapter(Annotated[FRAMES, Field(discriminator="type")])


def read_frame(text: str | None, known: TypeAdapter[Frame] = TALK) -> Frame:
    """Return the frame; raise TextError, saying what is wrong, if it is not one of the `known` ones."""
    if text is None:
        raise TextError("bad_frame", _("Frames must be text, not bytes."))
    if len(text) > MAX_FRAME_CHARACTERS:
        raise TextError("bad_frame", _("This frame is too long."))
    try:
        frame = known.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        code = "unknown_frame" if first["type"] == "union_tag_invalid" else "bad_frame"
        place = ".".join(str(part) for part in first["loc"][1:])
        raise TextError(code, f"{place}: {first['msg']}" if place else first["msg"]) from error
    if not is_storable(getattr(frame, "client_id", "")):
        raise TextError("bad_frame", _("This client id contains characters that are not text."))
    return frame


def find_client_id(text: str | None) -> str | None:
    """Return the client id in a frame that cannot be read, for its error, or None if there is none to be found."""
    try:
        frame = orjson.loads(text or "") if len(text or "") <= MAX_FRAME_CHARACTERS else None
    except orjson.JSONDecodeError:
        return None
    given = frame.get("client_id") if isinstance(frame, dict) else None
    return given if isinstance(given, str) and len(given) <= MAX_CLIENT_ID_CHARACTERS else None

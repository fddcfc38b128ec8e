"""The frames that a socket may send, each checked."""

from typing import Annotated, Literal
from uuid import UUID

from django.utils.translation import gettext as _
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from companions.errors import TextError
from text.storable import is_storable


class Frame(BaseModel):
    """Something that a client sends."""


class MessageSend(Frame):
    type: Literal["message.send"]
    text: str
    client_id: str = Field(min_length=1, max_length=200)


class ReplyStop(Frame):
    type: Literal["reply.stop"]
    id: UUID


class ReplyResume(Frame):
    type: Literal["reply.resume"]
    id: UUID
    after: int = Field(0, ge=0, le=2**31 - 1)


FRAMES = MessageSend | ReplyStop | ReplyResume
TALK: TypeAdapter[Frame] = TypeAdapter(Annotated[FRAMES, Field(discriminator="type")])


def read_frame(text: str | None, known: TypeAdapter[Frame] = TALK) -> Frame:
    """The frame; raises TextError where it is none of those known, with what is wrong."""
    if text is None:
        raise TextError("bad_frame", _("Frames are text, not bytes."))
    try:
        frame = known.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        code = "unknown_frame" if first["type"] == "union_tag_invalid" else "bad_frame"
        place = ".".join(str(part) for part in first["loc"][1:])
        raise TextError(code, f"{place}: {first['msg']}" if place else first["msg"]) from error
    if not is_storable(getattr(frame, "client_id", "")):
        raise TextError("bad_frame", _("This client id holds characters that are not text."))
    return frame

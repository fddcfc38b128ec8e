"""What a call's socket takes beside what a talk's takes."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, TypeAdapter

from companions.socket_frames import FRAMES, Frame


class CallUtterance(Frame):
    """The next frame of bytes is what was said under this id, in this language where that is known."""

    type: Literal["call.utterance"]
    client_id: str = Field(min_length=1, max_length=200)
    language: str = Field("", max_length=16)


class ReplyHeard(Frame):
    """The reply was broken off: it was heard until this place in its text."""

    type: Literal["reply.heard"]
    id: UUID
    until: int = Field(ge=0, le=2**31 - 1)


CALL: TypeAdapter[Frame] = TypeAdapter(
    Annotated[FRAMES | CallUtterance | ReplyHeard, Field(discriminator="type")]
)

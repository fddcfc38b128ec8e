"""What a model may answer when it is asked for gists."""

from typing import Annotated

from pydantic import BaseModel, Field, TypeAdapter

from memory.learning.answers import each, text

MOST_PAGES = 8  # share a call
GIST_CHARACTERS = 1000


class Gist(BaseModel):
    """What one page tells, in a few sentences; `number` is the page's."""

    number: int = Field(ge=1)
    gist: text(GIST_CHARACTERS)  # type: ignore[valid-type]


GIST = TypeAdapter(Gist)


class Gists(BaseModel):
    """The answer about several pages; what is not in form is left out, and its page asked about again."""

    gists: Annotated[list[Gist], each(GIST, MOST_PAGES), Field(min_length=1)]

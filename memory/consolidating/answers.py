"""What a model may answer by night. Memories and pursuits are named by their numbers; what is not in form is left out."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from memory.learning.answers import each, text

MOST_MERGES = MOST_REVIEWS = 50
MOST_CONTRADICTIONS = 20
MOST_INSIGHTS = 5

Number = Annotated[int, Field(strict=True, ge=1, le=1000)]


class Merge(BaseModel):
    """Memories that say the same: one is kept, the others become its evidence."""

    keep: Number
    others: list[Number] = Field(min_length=1, max_length=20)


class Contradiction(BaseModel):
    """Two memories that cannot both hold."""

    a: Number
    b: Number


class Insight(BaseModel):
    """What several memories tell together and none of them tells alone."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    text: text(500)  # type: ignore[valid-type]
    drawn_from: list[Number] = Field(alias="from", min_length=2, max_length=20)
    importance: int = Field(5, ge=1, le=10)


class Review(BaseModel):
    """How a goal or an idea stands; what is left out stays as it is."""

    of: Number
    status: Literal["new", "under_way", "done", "given_up"] | None = None
    progress: Annotated[int, Field(strict=True, ge=0, le=100)] | None = None
    excitement: Annotated[int, Field(strict=True, ge=1, le=10)] | None = None


MERGE, CONTRADICTION = TypeAdapter(Merge), TypeAdapter(Contradiction)
INSIGHT, REVIEW = TypeAdapter(Insight), TypeAdapter(Review)


class Night(BaseModel):
    """The answer about a night's memories; each list may be empty, none may be missing."""

    merges: Annotated[list[Merge], each(MERGE, MOST_MERGES)]
    contradictions: Annotated[list[Contradiction], each(CONTRADICTION, MOST_CONTRADICTIONS)]
    insights: Annotated[list[Insight], each(INSIGHT, MOST_INSIGHTS)]
    reviews: Annotated[list[Review], each(REVIEW, MOST_REVIEWS)]

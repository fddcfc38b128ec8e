"""Two texts in revisions, each with the same operations: the self-concept and the user profile."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated
from uuid import UUID

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import Field, Router, Schema
from pydantic import AfterValidator, StringConstraints

from accounts.idempotency import once
from companions.api.cursor import PageQuery, page
from companions.api.diary import SentenceOut
from companions.api.finding import my_companion, person
from companions.api.parameters import IdempotencyKey
from companions.understanding import restore, rewrite
from memory.models import Revision
from memory.models.revision import MOST_SENTENCES, SENTENCE_CHARACTERS
from memory.text import is_storable
from memory.understanding import current

router = Router(tags=["understanding"])
Out = dict[str, object]


def stored(text: str) -> str:
    """The text as it came; ValueError where a database cannot keep it."""
    if not is_storable(text):
        raise ValueError("holds characters that are not text")
    return text


Sentence = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=SENTENCE_CHARACTERS),
    AfterValidator(stored),
]


class RevisionOut(Schema):
    number: int = Field(description="The highest holds; 0 where nothing has been written yet.")
    sentences: list[SentenceOut]
    by: str
    made_at: datetime | None
    is_stale: bool


class RevisionsOut(Schema):
    items: list[RevisionOut]
    next: str | None


class RevisionIn(Schema):
    sentences: list[Sentence] = Field(max_length=MOST_SENTENCES)


NOTHING = {"number": 0, "sentences": [], "by": "", "made_at": None, "is_stale": False}


def my_revision(request: HttpRequest, companion_id: UUID, about: str, number: int) -> Revision:
    mine = Revision.objects.owned_by(person(request)).filter(companion_id=companion_id, about=about)
    return get_object_or_404(mine, number=number)


def _written(
    request: HttpRequest, operation: str, key: str | None, write: Callable[[], Revision]
) -> Revision:
    """The revision that was written; the one of before where the same was asked under the same key."""
    id, _ = once(person(request), operation, key, request.body, lambda: write().pk)
    return Revision.objects.owned_by(person(request)).get(pk=id)


def _operations(about: Revision.About, words: str) -> None:
    name, path = about.value, f"/{{uuid:companion_id}}/{about.value.replace('_', '-')}"

    @router.get(path, response=RevisionOut, operation_id=f"get_{name}", summary=f"{words}, as it holds")
    def get(request: HttpRequest, companion_id: UUID) -> object:
        return current(my_companion(request, companion_id).pk, about) or NOTHING

    @router.put(path, response=RevisionOut, operation_id=f"write_{name}", summary=f"{words}: write it anew")
    def write(
        request: HttpRequest, companion_id: UUID, body: RevisionIn, key: IdempotencyKey = None
    ) -> Revision:
        companion = my_companion(request, companion_id)
        return _written(
            request,
            f"write_{name} {companion_id}",
            key,
            lambda: rewrite(companion, about, body.sentences, timezone.now()),
        )

    @router.get(
        f"{path}/revisions",
        response=RevisionsOut,
        operation_id=f"list_{name}_revisions",
        summary=f"{words}: its revisions, the newest first",
    )
    def revisions(request: HttpRequest, companion_id: UUID, asked: PageQuery) -> Out:
        found = Revision.objects.filter(companion=my_companion(request, companion_id), about=about)
        items, following = page(found, "made_at", asked)
        return {"items": items, "next": following}

    @router.get(
        f"{path}/revisions/{{int:number}}",
        response=RevisionOut,
        operation_id=f"get_{name}_revision",
        summary=f"{words}: one revision",
    )
    def revision(request: HttpRequest, companion_id: UUID, number: int) -> Revision:
        return my_revision(request, companion_id, about, number)

    @router.post(
        f"{path}/revisions/{{int:number}}/restore",
        response=RevisionOut,
        operation_id=f"restore_{name}_revision",
        summary=f"{words}: let an earlier revision hold again",
    )
    def restore_one(
        request: HttpRequest, companion_id: UUID, number: int, key: IdempotencyKey = None
    ) -> Revision:
        companion = my_companion(request, companion_id)
        earlier = my_revision(request, companion_id, about, number)
        operation = f"restore_{name} {companion_id} {number}"
        try:
            return _written(request, operation, key, lambda: restore(companion, earlier, timezone.now()))
        except Revision.DoesNotExist as error:
            raise Http404 from error


_operations(Revision.About.SELF_CONCEPT, "What it thinks of itself")
_operations(Revision.About.USER_PROFILE, "What it knows of its user")

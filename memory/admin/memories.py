"""The admin of memories, recalls, embeddings and documents: read-only, and each view is audited.

`MemoryAdmin` is registered by `companions`, which adds deleting a memory with all that was made of it.
"""

import re
from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import BooleanField, Count, ExpressionWrapper, F, Q
from django.db.models.functions import Length
from django.http import HttpRequest
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from memory.admin.absence import explain_absences, list_left_out
from memory.documents.gists import DONE_WITH
from memory.models import Document, Embedding, Memory, Page, Recall, Recalled
from memory.recall.traits import terms
from memory.scoring import CHOICES
from safety.admin import PrivateAdmin, code_column, code_filter, filled_filter, link, marks, moment, number

RECALLS_PER_PAGE = 20
ERROR = code_column("error", _("error"))


class MemoryAdmin(PrivateAdmin):
    """A memory with its sources, and every recall that found it."""

    named_by = "happened_at"
    titled_by = "text"
    annotations = {"length": Length("text")}
    list_display = (
        moment("happened_at", _("happened")),
        *("owner", "of_companion", "kind", "speaker", number("length", _("characters"))),
        *("times_recalled", "importance"),
        *(moment("learnt_at", _("learnt")), "marks"),
    )
    list_filter = (
        "kind",
        "speaker",
        "is_pinned",
        "is_private",
        "is_stale",
        ("closed_at", admin.EmptyFieldListFilter),
        "happened_at",
        "learnt_at",
    )
    search_ids = ("pk", "companion", "message")
    fields = (
        *("id", "owner", "of_companion", "kind", "speaker", "is_pinned", "is_private", "is_stale"),
        *("of_message", "of_call", "confidence", "evidence"),
        *("happened_at", "learnt_at", "edited_at", "closed_at", "of_newer"),
    )
    private_template = "admin/memory/memory.html"

    of_message = link("message", _("message"))
    of_call = link("call", _("model call"))
    of_newer = link("replaced_by", _("replaced by"))

    @admin.display(description=_("marks"))
    def marks(self, memory: Memory) -> str:
        names = {
            "is_pinned": _("pinned"),
            "edited_at": _("corrected"),
            "closed_at": _("closed"),
            "is_private": _("hidden from models"),
            "is_stale": _("stale"),
        }
        return marks(memory, names)

    def private(self, request: HttpRequest, thing: Memory) -> dict[str, Any]:
        """Return the memory's terms, sources, related memories and vectors, a page of the recalls that found it, and one
        of the later turns that did not.
        """
        found = thing.recalled.select_related("recall", "memory").order_by("-recall__at", "-pk")
        turns = thing.companion.recalls.filter(
            by=Recall.By.TURN, at__gte=thing.learnt_at, reply__isnull=False
        )
        others = turns.exclude(found__memory=thing).select_related("reply").prefetch_related("reply__prompts")
        went_without = Paginator(others.order_by("-at"), RECALLS_PER_PAGE).get_page(
            request.GET.get("without")
        )
        return {
            "memory": thing,
            "terms": terms(thing.text, thing.happened_at.astimezone(thing.companion.user.zone)),
            "sources": sources(thing),
            "quotes": thing.quotes,
            "drawn_from": thing.drawn_from.all(),
            "draws": thing.draws.all(),
            "replaces": thing.replaces.all(),
            "replaced_by": [thing.replaced_by] if thing.replaced_by else [],
            "vectors": thing.embeddings.order_by()
            .values("space__model", "space__width")
            .annotate(windows=Count("pk")),
            "found": Paginator(found, RECALLS_PER_PAGE).get_page(request.GET.get("recalls")),
            "went_without": went_without,
            "absences": explain_absences(thing, list(went_without)),
        }


def sources(memory: Memory) -> Sequence[Any]:
    """Return the messages that the memory comes from: the one that it mirrors, if any, and those it was drawn from."""
    mirrored = [memory.message] if memory.message else []
    return [*mirrored, *memory.sources.order_by("said_at")]


def describe_policy(name: str) -> str:
    """Return the label of a scoring policy up to its colon, or `name` if there is no such policy."""
    return re.split("[:：]", str(dict(CHOICES).get(name, name)), maxsplit=1)[0]


POLICY = code_column("policy", _("scoring policy"), describe_policy)


@admin.register(Recall)
class RecallAdmin(PrivateAdmin):
    """A search of memory: its cue, and what it found with scores and reasons."""

    named_by = "at"
    titled_by = "cue"
    annotations = {"count": Count("found")}
    list_display = (
        moment("at", _("when")),
        "owner",
        "of_companion",
        "by",
        "milliseconds",
        POLICY,
        number("count", _("found")),
    )
    list_filter = ("by", ("policy", code_filter(describe_policy)), "at")
    search_ids = ("pk", "companion", "reply")
    fields = ("id", "owner", "of_companion", "by", "at", "milliseconds", POLICY, "of_reply")
    private_template = "admin/memory/recall.html"

    of_reply = link("reply", _("reply"))

    def private(self, request: HttpRequest, thing: Recall) -> dict[str, Any]:
        found = thing.found.select_related("memory")
        return {"recall": thing, "found": found, "absences": list_left_out([thing])}


@admin.register(Recalled)
class RecalledAdmin(PrivateAdmin):
    """One memory that a recall found."""

    owner_path = "recall__companion__user"
    titled_by = "memory.text"
    list_display = ("page", "owner", "of_recall", "of_memory", "rank", "score", "shown")
    search_ids = ("pk", "recall", "memory")
    ordering = ("-pk",)
    fields = ("id", "owner", "of_recall", "of_memory", "rank", "score", "shown")
    private_template = "admin/memory/recalled.html"

    of_recall = link("recall", _("recall"))
    of_memory = link("memory", _("memory"))

    @admin.display(description=pgettext_lazy("memory", "used"), boolean=True, ordering="is_used")
    def shown(self, found: Recalled) -> bool:
        return found.is_used

    def private(self, request: HttpRequest, thing: Recalled) -> dict[str, Any]:
        return {"found": [thing]}


class SpaceFilter(admin.RelatedFieldListFilter):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("embedding space")


@admin.register(Embedding)
class EmbeddingAdmin(PrivateAdmin):
    """A memory's embedding in a space, or its refusal. The vector is not shown: words could be guessed from it."""

    annotations = {
        "space_name": F("space__model"),
        "is_refused": ExpressionWrapper(Q(vector=None), BooleanField()),
    }
    list_display = ("page", "owner", "of_companion", "of_memory", "space_name", "window", "refused")
    list_filter = (("space", SpaceFilter),)
    search_ids = ("pk", "companion", "memory")
    ordering = ("-pk",)
    fields = ("id", "owner", "of_companion", "of_memory", "space_name", "window")
    private_template = "admin/private/words.html"

    @admin.display(description=_("embedding space"))
    def space_name(self, embedding: Any) -> str:
        return str(embedding.space_name)

    @admin.display(description=_("refused"))
    def refused(self, embedding: Any) -> str:
        return gettext("Yes") if embedding.is_refused else "–"

    of_memory = link("memory", _("memory"))


@admin.register(Document)
class DocumentAdmin(PrivateAdmin):
    """A long text that was given to a companion, and how many of its pages have a gist."""

    named_by = "given_at"
    titled_by = "title"
    words = ("title",)
    annotations = {"count": Count("pages"), "done": Count("pages", filter=DONE_WITH)}
    list_display = (
        moment("given_at", _("uploaded")),
        *("owner", "of_companion", "characters", "count", "done", "attempts", ERROR),
    )
    list_filter = (("error", code_filter()), "given_at")
    fields = (
        *("id", "owner", "of_companion", "characters", "count", "done", "given_at"),
        *(ERROR, "attempts", "next_at"),
    )
    private_template = "admin/memory/document.html"

    @admin.display(description=_("pages"), ordering="count")
    def count(self, document: Any) -> int:
        return int(document.count)

    @admin.display(description=_("gists"), ordering="done")
    def done(self, document: Any) -> int:
        return int(document.done)

    def private(self, request: HttpRequest, thing: Document) -> dict[str, Any]:
        return super().private(request, thing) | {
            "pages": thing.pages.annotate(is_gone=Q(text="")).defer("text").order_by("number")
        }


@admin.register(Page)
class PageAdmin(PrivateAdmin):
    """One page of a document, with its gist."""

    words = ("gist", "text")
    annotations = {"length": Length("text"), "gist_length": Length("gist")}
    list_display = (
        *("page", "owner", "of_companion", "of_document", "number"),
        *(number("length", _("characters")), number("gist_length", _("characters of gist"))),
    )
    list_filter = (("memory", filled_filter(_("gist"))),)
    search_ids = ("pk", "companion", "document", "memory")
    ordering = ("-pk",)
    fields = ("id", "owner", "of_companion", "of_document", "number", "of_memory", "of_call")

    of_memory = link("memory", _("memory"))
    of_call = link("call", _("model call"))
    of_document = link("document", _("document"))

    def call(self, thing: Page) -> str:
        return gettext("Page %(number)s") % {"number": thing.number}

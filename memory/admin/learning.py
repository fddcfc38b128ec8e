"""The admin of what a companion knows: core memory, diary entries, revisions, batches of learning, retractions."""

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.db.models import F, Func, IntegerField
from django.db.models.functions import Length
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from memory.learning.diary import sources_of
from memory.models import Block, DiaryEntry, Forgotten, Learning, Memory, Retraction, Revision, Slot
from safety.admin import PrivateAdmin, link, marks, moment, number


def length_of(field: str) -> Func:
    """Return an expression for the length of the JSON list in this field."""
    return Func(F(field), function="jsonb_array_length", output_field=IntegerField())


def with_sources(thing: DiaryEntry | Revision) -> Sequence[dict[str, Any]]:
    """Return each sentence with its source messages, except those that are gone or on another branch. One query."""
    messages = thing.companion.messages.in_bulk(sources_of(thing.sentences))
    return [
        {
            "text": sentence["text"],
            "sources": [
                messages[UUID(source)]
                for source in dict.fromkeys(sentence["sources"])
                if UUID(source) in messages
            ],
        }
        for sentence in thing.sentences
    ]


SENTENCES = number("count", _("sentences"))
CHARACTERS = number("length", _("characters"))


class SentencesAdmin(PrivateAdmin):
    """The admin of a text that is stored as sentences, each with the messages that it comes from."""

    annotations = {"count": length_of("sentences")}
    private_template = "admin/memory/sentences.html"

    @admin.display(description=_("marks"))
    def marks(self, thing: DiaryEntry | Revision) -> str:
        return marks(thing, {"is_stale": _("stale")})

    def private(self, request: HttpRequest, thing: Any) -> dict[str, Any]:
        return super().private(request, thing) | {"sentences": with_sources(thing)}


@admin.register(DiaryEntry)
class DiaryEntryAdmin(SentencesAdmin):
    """A companion's diary entry about one session."""

    named_by = "started_at"
    titled_by = "title"
    words = ("title",)
    list_display = (
        moment("started_at", _("from")),
        *("owner", "of_companion", SENTENCES, "emotion", "intensity"),
        *(moment("made_at", _("written")), "attempts", "marks"),
    )
    list_filter = ("emotion", "is_stale", "started_at", "made_at")
    search_ids = ("pk", "companion", "session", "memory")
    fields = (
        *("id", "owner", "of_companion", "of_session", "of_memory", "of_call", "started_at", "ended_at"),
        *("emotion", "intensity", "made_at", "is_stale", "attempts", "next_at"),
    )

    of_session = link("session", _("session"))
    of_memory = link("memory", _("memory"))
    of_call = link("call", _("model call"))


@admin.register(Revision)
class RevisionAdmin(SentencesAdmin):
    """One revision of a self-concept or a user profile."""

    named_by = "made_at"
    list_display = (
        moment("made_at", _("created")),
        *("owner", "of_companion", "about", "number", SENTENCES, "by"),
        "marks",
    )
    list_filter = ("about", "by", "is_stale", "made_at")
    search_ids = ("pk", "companion", "session")
    fields = (
        *("id", "owner", "of_companion", "about", "number", "by", "of_session", "of_call", "made_at"),
        "is_stale",
    )

    of_session = link("session", _("session"))
    of_call = link("call", _("model call"))

    def call(self, thing: Revision) -> str:
        return f"{capfirst(thing.get_about_display())} · {thing.number}"


@admin.register(Learning)
class LearningAdmin(PrivateAdmin):
    """One batch of messages that was learnt from: each verdict, and what became of it."""

    named_by = "at"
    annotations = {"count": length_of("verdicts")}
    list_display = (
        moment("at", _("when")),
        *("owner", "of_companion", "messages"),
        number("count", _("verdicts")),
    )
    list_filter = ("at",)
    search_ids = ("pk", "companion", "session")
    fields = ("id", "owner", "of_companion", "of_session", "of_call", "messages", "at")
    private_template = "admin/memory/learning.html"

    of_session = link("session", _("session"))
    of_call = link("call", _("model call"))

    def private(self, request: HttpRequest, thing: Learning) -> dict[str, Any]:
        kinds = dict(Memory.Kind.choices)
        return {"verdicts": [{**one, "kind": kinds.get(one["kind"], one["kind"])} for one in thing.verdicts]}


@admin.register(Retraction)
class RetractionAdmin(PrivateAdmin):
    """A record that a companion forgot or revised something because its person had asked it to."""

    named_by = "made_at"
    words = ("slot",)
    list_display = (moment("made_at", _("when")), "owner", "of_companion", "of_memory")
    list_filter = ("made_at",)
    fields = ("owner", "of_companion", "of_memory", "of_reply", "made_at")

    of_memory = link("memory", _("memory"))
    of_reply = link("reply", _("reply"))


@admin.register(Forgotten)
class ForgottenAdmin(PrivateAdmin):
    """A record that a person had something forgotten; it holds digests of the words only."""

    named_by = "at"
    annotations = {"count": length_of("statements")}
    list_display = (moment("at", _("when")), "owner", "of_companion", number("count", _("statements")))
    list_filter = ("at",)
    fields = ("id", "owner", "of_companion", "at")


class CoreMemoryAdmin(PrivateAdmin):
    """The admin of a slot or block: a named text, and the messages that it comes from."""

    annotations = {"length": Length("text")}
    titled_by = "name"
    words: ClassVar[tuple[str, ...]] = ("name", "text")
    ordering = ("-changed_at", "-pk")
    list_filter: ClassVar[tuple[str, ...]] = ("by", "changed_at")
    private_template = "admin/memory/in_mind.html"

    def private(self, request: HttpRequest, thing: Slot | Block) -> dict[str, Any]:
        return super().private(request, thing) | {"sources": thing.sources.order_by("said_at")}


@admin.register(Slot)
class SlotAdmin(CoreMemoryAdmin):
    """A named fact that is always in the prompt."""

    named_by = "changed_at"
    list_display = (moment("changed_at", _("changed")), "owner", "of_companion", CHARACTERS, "by")
    fields = ("id", "owner", "of_companion", "by", "changed_at")


@admin.register(Block)
class BlockAdmin(CoreMemoryAdmin):
    """A named text that is always in the prompt."""

    named_by = "changed_at"
    words = ("name", "description", "text")
    list_display = (
        moment("changed_at", _("changed")),
        *("owner", "of_companion", CHARACTERS, "most_characters", "is_read_only", "by"),
    )
    list_filter = ("by", "is_read_only", "changed_at")
    fields = ("id", "owner", "of_companion", "most_characters", "is_read_only", "by", "changed_at")

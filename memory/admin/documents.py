"""Documents and their pages, for operators."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Length
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from memory.documents.gists import DONE_WITH
from memory.models import Document, Page
from safety.admin import PrivateAdmin, link_to, moment


@admin.register(Document)
class DocumentAdmin(PrivateAdmin):
    """A long text that was given to a companion, and how far its gists are."""

    words = ("title",)
    annotations = {
        "count": Count("pages"),
        "done": Count("pages", filter=DONE_WITH),
    }
    list_display = (
        *("short_id", "owner", "of_companion", "characters", "count", "done", "attempts", "error"),
        moment("given_at", _("given")),
    )
    list_filter = ("error", "given_at")
    fields = (
        *("id", "owner", "of_companion", "characters", "count", "done", "given_at"),
        *("error", "attempts", "next_at"),
    )
    private_template = "admin/memory/document.html"

    @admin.display(description=_("pages"), ordering="count")
    def count(self, document: Any) -> int:
        return int(document.count)

    @admin.display(description=_("gists"), ordering="done")
    def done(self, document: Any) -> int:
        return int(document.done)

    def private(self, request: HttpRequest, thing: Document) -> dict[str, Any]:
        return super().private(request, thing) | {"pages": _pages_of(thing)}


def _pages_of(document: Document) -> QuerySet[Page]:
    pages = document.pages.annotate(is_gone=Q(text=""))
    return pages.defer("text").order_by("number")


@admin.register(Page)
class PageAdmin(PrivateAdmin):
    """One page of a document with its gist."""

    words = ("gist", "text")
    annotations = {"length": Length("text"), "gist_length": Length("gist")}
    list_display = ("id", "owner", "of_companion", "of_document", "number", "length", "gist_length")
    list_filter = (("memory", admin.EmptyFieldListFilter),)
    search_ids = ("pk", "companion", "document", "memory")
    ordering = ("-pk",)
    fields = ("id", "owner", "of_companion", "document", "number", "memory", "call")

    @admin.display(description=_("document"))
    def of_document(self, page: Page) -> str:
        return link_to("memory.document", page.document_id)

    @admin.display(description=_("characters"), ordering="length")
    def length(self, page: Any) -> int:
        return int(page.length)

    @admin.display(description=_("characters of gist"), ordering="gist_length")
    def gist_length(self, page: Any) -> int:
        return int(page.gist_length)

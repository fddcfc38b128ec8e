"""The admin of conversations, branches, sessions and their closings, messages, bookmarks and attachments."""

from datetime import datetime
from typing import Any

from django.contrib import admin, messages
from django.core.paginator import Page, Paginator
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Length
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.decorators import action

from companions.deletion import delete_message
from companions.models import (
    Attachment,
    Bookmark,
    Branch,
    Closing,
    Conversation,
    Delivery,
    JournalEntry,
    Message,
    Reply,
    Session,
)
from companions.models.closing import ClosingQuerySet
from companions.sessions.requests import try_again
from memory.models import Memory
from safety.admin import (
    ActionAdmin,
    PrivateAdmin,
    code_column,
    code_filter,
    describe_name,
    filled_filter,
    link,
    link_to,
    marks,
    moment,
    number,
    state,
    yes_filter,
)
from safety.descriptions import describe_table

MESSAGES_PER_PAGE = 50


def paginate_messages(thing: Conversation | Session, request: HttpRequest) -> Page[Message]:
    """Return the page of the messages of `thing` that the request asks for by `said`, newest first, on any branch."""
    said = thing.messages(manager="everywhere").order_by("-said_at", "-created_at")
    return Paginator(said, MESSAGES_PER_PAGE).get_page(request.GET.get("said"))


@admin.register(Conversation)
class ConversationAdmin(PrivateAdmin):
    """A companion's conversation, with the messages of all its branches."""

    named_by = "created_at"
    titled_by = "companion_called"
    list_display = (moment("created_at", _("created")), "owner", "of_companion", "of_head")
    list_filter = ("created_at",)
    ordering = ("-created_at",)
    fields = ("id", "owner", "of_companion", "of_head", "created_at")
    private_template = "admin/companions/said.html"

    of_head = link("head", _("newest message"))

    def private(self, request: HttpRequest, thing: Conversation) -> dict[str, Any]:
        return {"said": paginate_messages(thing, request)}


@admin.register(Bookmark)
class BookmarkAdmin(PrivateAdmin):
    """A user's bookmark of a message."""

    named_by = "made_at"
    list_display = (moment("made_at", _("created")), "owner", "of_companion", "of_message")
    list_filter = ("made_at",)
    search_ids = ("pk", "companion", "message")
    fields = ("id", "owner", "of_companion", "of_message", "made_at")

    of_message = link("message", _("message"))


@admin.register(Attachment)
class AttachmentAdmin(PrivateAdmin):
    """A picture that a user sent with a message, or a text that became a document."""

    words = ("name",)
    named_by = "created_at"
    titled_by = "name"
    list_display = (moment("created_at", _("uploaded")), "owner", "of_companion", "of_message")
    list_filter = ("created_at",)
    search_ids = ("pk", "companion", "message", "file")
    fields = ("id", "owner", "of_companion", "of_message", "of_file", "of_document", "created_at")

    of_message = link("message", _("message"))
    of_file = link("file", _("file"))
    of_document = link("document", _("document"))


@admin.register(Branch)
class BranchAdmin(PrivateAdmin):
    """A branch of a conversation."""

    named_by = "made_at"
    titled_by = "name"
    words = ("name",)
    list_display = (
        moment("made_at", _("created")),
        *("owner", "of_companion", "of_head"),
        moment("left_at", _("chosen until")),
    )
    list_filter = ("made_at",)
    search_ids = ("pk", "companion", "head")
    fields = ("id", "owner", "of_companion", "of_conversation", "of_head", "made_at", "left_at")

    of_conversation = link("conversation", _("conversation"))
    of_head = link("head", _("newest message"))


TABLE = code_column("table", _("table"), describe_table)


@admin.register(JournalEntry)
class JournalEntryAdmin(PrivateAdmin):
    """A change of what a companion knows, and the message it follows; undone on branches that are not chosen."""

    words = ("before", "after")
    linked = {"message": Message}
    annotations = {
        "after_said_at": Subquery(Message.everywhere.filter(pk=OuterRef("at")).values("said_at")[:1])
    }
    list_display = ("page", "owner", "of_companion", "kind", TABLE, "of_message", "is_undone")
    list_filter = ("kind", ("table", code_filter(describe_table)), "is_undone")
    search_ids = ("pk", "companion", "at", "row")
    fields = ("id", "owner", "of_companion", "kind", TABLE, "row", "of_message", "is_undone")

    @admin.display(description=_("after"))
    def of_message(self, entry: Any) -> str:
        """Return a link to the message that the change follows, or the short id in `at` if that is not a message."""
        if entry.after_said_at is None:
            return format_html('<span class="kith-id kith-soft">{}</span>', str(entry.at)[:8])
        name = describe_name(entry.after_said_at)
        return link_to("companions.message", entry.at, name, opens=entry.message_opens)

    def call(self, thing: JournalEntry) -> str:
        return f"{capfirst(describe_table(thing.table))} · {thing.get_kind_display()}"


@admin.register(Session)
class SessionAdmin(PrivateAdmin):
    """A session with its messages, summary and scratch notes."""

    named_by = "started_at"
    titled_by = "title"
    words = ("title", "summary", "scratch")
    annotations = {"count": Count("messages")}
    list_display = (
        moment("started_at", _("started")),
        "owner",
        "of_companion",
        moment("ended_at", _("ended")),
        number("count", _("messages")),
        "pressure",
        "digest_attempts",
    )
    list_filter = (("ended_at", admin.EmptyFieldListFilter), "started_at")
    search_ids = ("pk", "companion", "conversation")
    fields = (
        *("id", "owner", "of_companion", "of_conversation", "started_at", "ended_at"),
        *("summarised_until", "unsent", "pressure", "digest_at", "digest_attempts"),
    )
    private_template = "admin/companions/said.html"

    of_conversation = link("conversation", _("conversation"))

    def private(self, request: HttpRequest, thing: Session) -> dict[str, Any]:
        return super().private(request, thing) | {"said": paginate_messages(thing, request)}


ERROR = code_column("error", _("error"))
CLOSING_COLOURS = {
    Closing.State.DONE: "success",
    Closing.State.FAILED: "danger",
    Closing.State.WAITING: "info",
}


# Leaves the closings which the admin's home page counts.
AbandonedFilter = yes_filter("is_abandoned", _("waits for an operator"), ClosingQuerySet.abandoned)


@admin.register(Closing)
class ClosingAdmin(ActionAdmin):
    """The closing of a session: its state and error, and an action to retry failed ones."""

    named_by = "asked_at"
    words = ("drafts",)
    actions = ("again",)
    offered_in = {"again": (Closing.State.FAILED,)}
    list_display = (
        moment("asked_at", _("requested")),
        *("owner", "of_companion", "of_session", "shown_state", "is_forgetful", "attempts"),
        *(ERROR, moment("next_at", _("next attempt"))),
        moment("ended_at", _("ended")),
    )
    list_filter = ("state", AbandonedFilter, ("error", code_filter()), "is_forgetful", "asked_at")
    search_ids = ("pk", "companion", "session", "job")
    fields = (
        *("id", "owner", "of_companion", "of_session", "of_job", "until_at", "is_forgetful", "state"),
        *("attempts", ERROR, "asked_at", "next_at", "ended_at"),
    )

    shown_state = state(CLOSING_COLOURS)
    of_session = link("session", _("session"))
    of_job = link("job", _("job"))

    @action(description=_("Try again"), permissions=["act"])  # type: ignore[untyped-decorator]
    def again(self, request: HttpRequest, queryset: QuerySet[Closing]) -> None:
        """Retry the selected closings that failed."""
        tried, left = self.act(request, queryset, lambda closing, now: try_again(closing.pk, now))
        if tried:
            text = ngettext(
                "%(n)d closing will be tried again.", "%(n)d closings will be tried again.", tried
            )
            messages.success(request, text % {"n": tried})
        if left:
            text = ngettext(
                "%(n)d closing had not failed, or its session has since ended.",
                "%(n)d closings had not failed, or their sessions have since ended.",
                left,
            )
            messages.warning(request, text % {"n": left})


@admin.register(Message)
class MessageAdmin(PrivateAdmin):
    """A message, the replies to it and the memories of it. An operator may delete it and all that came of it."""

    named_by = "said_at"
    titled_by = "text"
    is_erasable = True
    max_selected_rows = 100
    words = ("author", "text")
    linked = {"maker": Reply}
    annotations = {"length": Length("text")}
    list_display = (
        moment("said_at", _("said")),
        *("owner", "of_companion", "role", number("length", _("characters"))),
        *(moment("created_at", _("stored")), "marks"),
    )
    list_filter = (
        "role",
        "is_hidden",
        "is_rehearsed",
        ("job", filled_filter(_("imported"))),
        "said_at",
        "created_at",
    )
    search_ids = ("pk", "companion", "session", "job")
    fields = (
        *("id", "owner", "of_companion", "of_conversation", "of_session", "of_parent", "role", "said_at"),
        *("created_at", "is_hidden", "is_rehearsed", "client_id", "of_job", "of_maker", "of_waking"),
    )
    private_template = "admin/companions/message.html"

    of_conversation = link("conversation", _("conversation"))
    of_session = link("session", _("session"))
    of_parent = link("parent", _("said after"))
    of_job = link("job", _("imported by"))
    of_waking = link("waking", _("said in the waking"))

    @admin.display(description=_("marks"))
    def marks(self, message: Message) -> str:
        return marks(message, {"is_hidden": _("hidden from prompts"), "is_rehearsed": _("rehearsed")})

    @admin.display(description=_("made by reply"))
    def of_maker(self, message: Any) -> str:
        maker = Reply.objects.filter(answer=message).only("created_at").first()
        if maker is None:
            return "–"
        name = describe_name(maker.created_at)
        return link_to("companions.reply", maker.pk, name, opens=message.maker_opens)

    def erase(self, thing: Message, now: datetime) -> None:
        delete_message(thing, now)

    def private(self, request: HttpRequest, thing: Message) -> dict[str, Any]:
        return super().private(request, thing) | {
            "replies": thing.replies.all(),
            "deliveries": Delivery.objects.filter(message=thing).order_by("due_at"),
            "memories": Memory.objects.filter(Q(message=thing) | Q(sources=thing)).distinct(),
        }

"""Operators' pages of records: the audit trail, notices, calls of providers and stored files."""

from typing import Any

from django.contrib import admin
from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet, Value
from django.http import HttpRequest
from django.utils.text import Truncator, capfirst
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin

from accounts.admin import PlainLookups, ReadOnly
from accounts.models import ModelCall, SoundCall, User
from files.models import StoredFile
from safety.admin.columns import code_column, code_filter, describe_name, link, moment, number
from safety.admin.private import PrivateAdmin
from safety.audit import read_search
from safety.descriptions import describe_model, link_to
from safety.models import AuditEntry, ContinuousUse, Notice

MAX_REASON_CHARACTERS = 80
KIND = code_column("kind", _("kind of object"), describe_model)


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnly, PlainLookups, ModelAdmin):  # type: ignore[misc]
    """The admin of the audit trail, whose entries nobody can change or delete."""

    list_display = (moment("at", _("when")), "operator", "deed", KIND, "thing", "owner", "why")
    list_filter = ("deed", ("kind", code_filter(describe_model)), "at")
    list_select_related = ("operator", "owner")
    search_fields = ("operator__email", "owner__email", "object_id")
    search_help_text = _("An id, or part of an e-mail address")
    fields = readonly_fields = ("at", "by", "deed", KIND, "object_id", "of_owner", "asked_for", "reason")
    list_per_page = 50
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[AuditEntry]:
        """Return the entries, with whether the operator may open what they are about, and people's pages."""
        pages = admin.site._registry.items()
        opens = {model._meta.label for model, page in pages if page.has_view_permission(request)}
        entries: QuerySet[AuditEntry] = super().get_queryset(request)
        return entries.annotate(
            thing_opens=ExpressionWrapper(Q(kind__in=opens), BooleanField()),
            people_open=Value(User._meta.label in opens),
        )

    @admin.display(description=_("operator"))
    def by(self, entry: Any) -> str:
        return link_to("accounts.user", entry.operator_id, entry.operator.email, opens=entry.people_open)

    @admin.display(description=_("owner"))
    def of_owner(self, entry: Any) -> str:
        email = entry.owner.email if entry.owner else ""
        return link_to("accounts.user", entry.owner_id, email, opens=entry.people_open)

    def call(self, entry: AuditEntry) -> str:
        return (
            f"{capfirst(entry.get_deed_display())}: {describe_model(entry.kind)} · {describe_name(entry.at)}"
        )

    @admin.display(description=_("object id"), ordering="object_id")
    def thing(self, entry: Any) -> str:
        is_known = entry.kind in {model._meta.label for model in admin.site._registry}
        if entry.object_id and is_known:
            return link_to(entry.kind, entry.object_id, opens=entry.thing_opens)
        return entry.object_id or "–"

    @admin.display(description=_("reason"), ordering="reason")
    def why(self, entry: AuditEntry) -> str:
        return Truncator(entry.reason).chars(MAX_REASON_CHARACTERS) or "–"

    @admin.display(description=_("searched and filtered by"))
    def asked_for(self, entry: AuditEntry) -> str:
        return str(read_search(entry))


SENT = number("prompt_tokens", _("tokens sent"))
RECEIVED = number("completion_tokens", _("tokens received"))
CACHED = number("cached_tokens", _("tokens from the cache"))
FIRST_PIECE = number("first_piece_milliseconds", _("first piece after (ms)"))
DURATION = number("milliseconds", _("duration (ms)"))
CHARACTERS, BYTES = number("characters", _("characters")), number("bytes", _("bytes"))


@admin.register(ModelCall)
class ModelCallAdmin(PrivateAdmin):
    """The admin of requests to chat or embedding models; the provider's own error text may quote the user."""

    named_by = "started_at"
    owner_path = "user"
    words = ("said",)
    list_display: Any = (
        moment("started_at", _("started")),
        *("owner", "purpose", "model", "outcome"),
        *(SENT, RECEIVED, FIRST_PIECE, DURATION),
    )
    fields = (
        *("owner", "of_companion", "of_reply", "purpose", "provider", "model", "outcome", "started_at"),
        *(SENT, RECEIVED, CACHED, "is_estimated", FIRST_PIECE, DURATION),
    )
    search_ids = ("pk", "companion", "reply")
    list_filter = ("outcome", "purpose", "is_estimated", "started_at", "model")
    date_hierarchy = "started_at"

    private_template = "admin/accounts/model_call.html"

    of_reply = link("reply", _("reply"))

    def private(self, request: HttpRequest, thing: ModelCall) -> dict[str, Any]:
        sent = [
            {
                "role": message["role"],
                "text": message.get("content"),
                "calls": message.get("tool_calls") or (),
            }
            for message in thing.sent or ()
        ]
        return super().private(request, thing) | {
            "call": thing,
            "sent": sent,
            "received": thing.received or {},
        }


@admin.register(StoredFile)
class StoredFileAdmin(PrivateAdmin):
    """The admin of users' files, without their content, which only the owner can open."""

    named_by = "created_at"
    owner_path = "user"
    search_ids = ("pk", "user", "companion")
    list_display: Any = (
        *(
            moment("created_at", _("stored")),
            "owner",
            "of_companion",
            "kind",
            BYTES,
            "seconds",
            "width",
            "height",
        ),
        moment("missed_at", _("content missing since")),
    )
    list_filter = ("kind", "created_at", ("missed_at", admin.EmptyFieldListFilter))
    fields = (
        *("id", "owner", "of_companion", "kind", "content_type", BYTES, "sha256", "seconds"),
        *("width", "height", "key", "created_at", "missed_at"),
    )


@admin.register(SoundCall)
class SoundCallAdmin(PrivateAdmin):
    """The admin of calls of speech or transcription providers; the provider's own error text may quote the user."""

    named_by = "started_at"
    owner_path = "user"
    words = ("said",)
    search_ids = ("pk", "user", "companion")
    list_display: Any = (
        moment("started_at", _("started")),
        *("owner", "capability", "outcome"),
        *(CHARACTERS, "seconds", DURATION),
    )
    list_filter = ("capability", "outcome", "started_at", "model")
    fields = (
        *("owner", "of_companion", "capability", "provider", "model", "outcome", "started_at"),
        *(CHARACTERS, "seconds", DURATION),
    )


@admin.register(Notice)
class NoticeAdmin(PrivateAdmin):
    """The admin of notices, which prove that users were told. Its list does not tell who was shown help lines."""

    named_by = "made_at"
    owner_path = "user"
    search_ids = ("pk", "user")
    list_display: Any = (
        moment("made_at", _("created")),
        *("listed_owner", "kind", "minutes"),
        moment("seen_at", _("seen")),
    )
    list_filter = ("kind", ("seen_at", admin.EmptyFieldListFilter), "made_at")
    fields = ("id", "owner", "kind", "minutes", "made_at", "seen_at")

    @admin.display(description=_("owner"))
    def listed_owner(self, notice: Any) -> str | None:
        return None if notice.kind == Notice.Kind.CRISIS else self.owner(notice)


@admin.register(ContinuousUse)
class ContinuousUseAdmin(PrivateAdmin):
    """The admin of how long users have been talking without a pause."""

    named_by = "begun_at"
    owner_path = "user"
    search_ids = ("pk",)
    list_display: Any = (
        moment("begun_at", _("since")),
        *("owner", moment("last_at", _("last message"))),
        moment("told_at", _("last suggestion of a break")),
    )
    list_filter = ("last_at",)
    ordering = ("-last_at",)
    fields = ("owner", "begun_at", "last_at", "told_at", "ai_told_on")

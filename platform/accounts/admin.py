"""The admin of groups, tokens, invitations and idempotency keys; that of users and model calls is in `safety.admin`."""

from datetime import datetime
from typing import Any, cast

from allauth.account.decorators import secure_admin_login
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.models import Group
from django.core.exceptions import SuspiciousOperation, ValidationError
from django.db import models
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin

from accounts.models import IdempotencyKey, Invitation, Token
from accounts.models.token import TokenQuerySet

PLAIN_FIELDS = (
    models.BooleanField,
    models.DateField,
    models.DecimalField,
    models.DurationField,
    models.FloatField,
    models.IntegerField,
    models.TimeField,
    models.UUIDField,
)
EXACT_LOOKUPS = {"exact", "in", "isnull", "isempty"}
COMPARING_LOOKUPS = EXACT_LOOKUPS | {"gt", "gte", "lt", "lte", "date", "year", "month", "day"}


class PlainLookups:
    """Restricts the lookups in a change list's URL, so that private text cannot be guessed by filtering.

    Allowed are comparisons of the model's own plain fields (numbers, dates, choices), e.g. `?kind__exact=said`, and
    exact matches of foreign keys' ids and of the fields in `list_filter`, which may also hold filters of our own. Refused
    are lookups of any other field (free text, JSON, bytes, lists, vectors) and lookups that follow a relation further
    than its id. An action on selected ids that are none is refused (400), too: Django would ask the database for them.
    """

    def lookup_allowed(self: Any, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        name, *rest = lookup.split("__")
        fields = self.model._meta.concrete_fields
        field = next((field for field in fields if name in (field.name, field.attname)), None)
        if field is None:
            return lookup in {getattr(part, "parameter_name", None) for part in self.list_filter}
        if isinstance(field, models.ForeignKey):
            rest = rest[1:] if rest[:1] in (["id"], ["pk"], [field.target_field.name]) else rest
            return set(rest) <= EXACT_LOOKUPS
        if isinstance(field, PLAIN_FIELDS) or getattr(field, "choices", None):
            return set(rest) <= COMPARING_LOOKUPS
        filters = {part[0] if isinstance(part, (tuple, list)) else part for part in self.list_filter}
        return name in filters and set(rest) <= EXACT_LOOKUPS

    def changelist_view(
        self: Any, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        for selected in request.POST.getlist(ACTION_CHECKBOX_NAME):
            try:
                self.model._meta.pk.to_python(selected)
            except ValidationError as error:
                raise SuspiciousOperation("What is selected is no id.") from error
        view: Any = super().changelist_view  # type: ignore[misc]
        return cast(HttpResponse, view(request, extra_context))


class ReadOnly:
    """Mixin for the admin of a model whose rows only Kith itself writes: no adding, changing or deleting."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


# Operators sign in by allauth as well: its rate limits apply, and who is signed in already need not sign in again.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

admin.site.unregister(Group)


@admin.register(Group)
class GroupAdmin(PlainLookups, DjangoGroupAdmin, ModelAdmin):  # type: ignore[misc]
    """Groups. As with users, only superusers may grant rights."""

    search_help_text = _("Part of a group's name")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return request.user.is_superuser

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return request.user.is_superuser


@admin.register(Token)
class TokenAdmin(PlainLookups, ModelAdmin):  # type: ignore[misc]
    """API tokens, issued on the settings page or by `create_token`. Operators who may change them may revoke them."""

    list_display = ("name", "prefix", "user", "created_at", "last_used_at", "expires_at", "revoked_at")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), "created_at", "last_used_at")
    list_select_related = ("user",)
    search_fields = ("name", "prefix", "user__email")
    search_help_text = _("Its name or beginning, or the owner's e-mail")
    fields = readonly_fields = list_display
    actions = ("revoke",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    @admin.action(description=_("Revoke"), permissions=["change"])
    def revoke(self, request: HttpRequest, tokens: QuerySet[Token]) -> None:
        count = cast(TokenQuerySet, tokens).revoke(timezone.now())
        messages.success(request, gettext("Revoked: %(count)s") % {"count": count})


@admin.register(Invitation)
class InvitationAdmin(PlainLookups, ModelAdmin):  # type: ignore[misc]
    list_display = ("__str__", "made_by", "created_at", "taken_by", "used_at")
    list_filter = (("used_at", admin.EmptyFieldListFilter), "created_at")
    list_select_related = ("created_by", "used_by")
    search_fields = ("note", "code", "used_by__email")
    search_help_text = _("Its note or code, or its user's e-mail")
    fields = ("note", "link", "made_by", "created_at", "taken_by", "used_at")
    readonly_fields = fields[1:]

    @admin.display(description=_("made by"), ordering="created_by")
    def made_by(self, invitation: Invitation) -> str:
        return str(invitation.created_by or "–")

    @admin.display(description=_("used by"), ordering="used_by")
    def taken_by(self, invitation: Invitation) -> str:
        return str(invitation.used_by or "–")

    @admin.display(description=_("link to send"))
    def link(self, invitation: Invitation) -> str:
        """Return the address that lets one person sign up."""
        if invitation.pk is None:
            return gettext("It is shown once you have saved.")
        return f"{settings.KITH_URL}{reverse('account_signup')}?invite={invitation.code}"

    def save_model(self, request: HttpRequest, obj: Invitation, form: Any, change: bool) -> None:
        if not change:
            obj.created_by = request.user  # type: ignore[assignment]
        super().save_model(request, obj, form, change)
        if not change:
            messages.info(request, self.link(obj))


@admin.register(IdempotencyKey)
class IdempotencyKeyAdmin(ReadOnly, PlainLookups, ModelAdmin):  # type: ignore[misc]
    """The idempotency keys of the API's writes, read-only."""

    list_display = ("at", "owner", "what", "under", "made")
    list_filter = ("created_at",)
    list_select_related = ("user",)
    search_fields = ("user__email", "operation", "key")
    search_help_text = _("The owner's e-mail, an operation or a key")
    ordering = ("-created_at",)
    fields = ("owner", "what", "under", "made", "at")
    readonly_fields = fields
    show_full_result_count = False

    @admin.display(description=_("when"), ordering="created_at")
    def at(self, key: IdempotencyKey) -> datetime:
        return key.created_at

    @admin.display(description=_("owner"), ordering="user__email")
    def owner(self, key: IdempotencyKey) -> str:
        return key.user.email

    @admin.display(description=_("operation"), ordering="operation")
    def what(self, key: IdempotencyKey) -> str:
        return key.operation

    @admin.display(description=_("key"), ordering="key")
    def under(self, key: IdempotencyKey) -> str:
        return key.key

    @admin.display(description=_("what was made"), ordering="made_id")
    def made(self, key: IdempotencyKey) -> str:
        return str(key.made_id or "–")

"""The admin of groups, invitations, deletions of accounts and idempotency keys.

That of users, tokens and model calls is in `safety.admin`.
"""

from datetime import datetime
from typing import Any, ClassVar, cast

from allauth.account.decorators import secure_admin_login
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.models import Group, Permission
from django.core.exceptions import SuspiciousOperation, ValidationError
from django.db import models
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin

from accounts.models import AccountDeletion, IdempotencyKey, Invitation

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
# The page that confirms a deletion posts each row's id, and Django refuses a form of more than a thousand values.
MAX_SELECTED_ROWS = 500
COMPARING_LOOKUPS = EXACT_LOOKUPS | {"gt", "gte", "lt", "lte", "date", "year", "month", "day"}


class PlainLookups:
    """Restricts the lookups in a change list's URL, and the rows to which an action applies.

    Private text must not be guessed by filtering.

    Allowed are comparisons of the model's own plain fields (numbers, dates, choices), e.g. `?kind__exact=said`, and
    exact matches of foreign keys' ids and of the fields in `list_filter`, which may also hold filters of our own. Refused
    are lookups of any other field (free text, JSON, bytes, lists, vectors) and lookups that follow a relation further
    than its id. Refused (400) are also actions on selected ids that are none, and filters with a NUL: Django would ask
    the database for them.

    An action applies to at most `max_selected_rows` at once, as each takes its time. If there are more, or if some
    of the selected rows are no longer in the list, the operator is told.
    """

    max_selected_rows: ClassVar[int] = MAX_SELECTED_ROWS

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

    def get_changelist_instance(self: Any, request: HttpRequest) -> Any:
        """Return the list; its header offers to show all, which it does for any other number, if this is a part."""
        part: Any = super().get_changelist_instance(request)  # type: ignore[misc]
        if not (part.query or part.get_filters_params()):
            part.full_result_count = part.result_count
        return part

    def changelist_view(
        self: Any, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        for selected in request.POST.getlist(ACTION_CHECKBOX_NAME):
            try:
                self.model._meta.pk.to_python(selected)
            except ValidationError as error:
                raise SuspiciousOperation("What is selected is no id.") from error
        if "%00" in request.META["QUERY_STRING"]:
            raise SuspiciousOperation("No database takes a filter with a NUL.")
        view: Any = super().changelist_view  # type: ignore[misc]
        return cast(HttpResponse, view(request, extra_context))

    def response_action(self: Any, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        selected = set(request.POST.getlist(ACTION_CHECKBOX_NAME))
        is_across = request.POST.get("select_across", "0") != "0"
        rows = queryset if is_across else queryset.filter(pk__in=selected)
        ids = list(rows.values_list("pk", flat=True)[: self.max_selected_rows + 1])
        if len(ids) > self.max_selected_rows:
            most = number_format(self.max_selected_rows)
            count = number_format(rows.count(), force_grouping=True)
            text = gettext(
                "An action applies to at most %(most)s rows at once: this one to the first %(most)s of %(count)s. "
                "Repeat it for the others."
            )
            messages.warning(request, text % {"most": most, "count": count})
            queryset = queryset.filter(pk__in=ids[:-1])
        elif not is_across and (gone := len(selected) - len(ids)):
            text = ngettext(
                "%(n)d selected row is no longer in this list: it has been deleted or changed in the meantime.",
                "%(n)d selected rows are no longer in this list: they have been deleted or changed in the meantime.",
                gone,
            )
            messages.warning(request, text % {"n": gone})
            if not ids:
                return HttpResponseRedirect(request.get_full_path())
        act: Any = super().response_action  # type: ignore[misc]
        return cast("HttpResponse | None", act(request, queryset))


class ReadOnly:
    """Mixin for the admin of a model whose rows only Kith itself writes: no adding, changing or deleting."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class DeletesEach:
    """Mixin for an admin whose `delete_model` does more than delete: its action calls that for each row."""

    def delete_queryset(self: Any, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for row in queryset:
            self.delete_model(request, row)


# Operators sign in by allauth as well: its rate limits apply, and who is signed in already need not sign in again.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

admin.site.unregister(Group)


VERBS = {
    "view": pgettext_lazy("a permission", "view"),
    "add": pgettext_lazy("a permission", "add"),
    "change": pgettext_lazy("a permission", "change"),
    "delete": pgettext_lazy("a permission", "delete"),
}


def describe_permission(permission: Permission) -> str:
    """Return what it permits, of which table; Django's own name for it is in English, and long."""
    verb, _separator, name = permission.codename.partition("_")
    model = permission.content_type.model_class()
    if verb not in VERBS or model is None or name != model._meta.model_name:
        return gettext(permission.name)
    site: Any = admin.site
    return f"{capfirst(site.name_table(model))}: {VERBS[verb]}"


class NamesPermissions:
    """Mixin for an admin whose form offers permissions."""

    def formfield_for_manytomany(self: Any, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        is_permission = db_field.related_model is Permission
        if is_permission:
            kwargs["queryset"] = Permission.objects.select_related("content_type")
        formfield: Any = super().formfield_for_manytomany  # type: ignore[misc]
        field = formfield(db_field, request, **kwargs)
        if field and is_permission:
            field.label_from_instance = describe_permission
        return field


@admin.register(Group)
class GroupAdmin(NamesPermissions, PlainLookups, DjangoGroupAdmin, ModelAdmin):  # type: ignore[misc]
    """Groups. As with users, only superusers may grant rights."""

    search_help_text = _("Part of a group's name")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return request.user.is_superuser

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return request.user.is_superuser


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


@admin.register(AccountDeletion)
class AccountDeletionAdmin(ReadOnly, PlainLookups, ModelAdmin):  # type: ignore[misc]
    """The accounts that their owners deleted, read-only."""

    list_display = ("account", "joined_at", "deleted_at")
    list_filter = ("deleted_at",)
    search_fields = ("account",)
    search_help_text = _("The account's number, as in what operators did")
    fields = readonly_fields = list_display
    show_full_result_count = False


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

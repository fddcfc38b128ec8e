"""The operators' view of people, tokens, invitations and model calls."""

from typing import Any, cast

from allauth.account.decorators import secure_admin_login
from allauth.account.models import EmailAddress
from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group
from django.db import models, transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminSelectWidget

from accounts.models import IdempotencyKey, Invitation, ModelCall, Token, User
from accounts.models.token import TokenQuerySet
from accounts.models.user import list_time_zones

PLAIN = (
    models.BooleanField,
    models.DateField,
    models.DecimalField,
    models.DurationField,
    models.FloatField,
    models.IntegerField,
    models.TimeField,
    models.UUIDField,
)
SAME = {"exact", "in", "isnull", "isempty"}
COMPARED = SAME | {"gt", "gte", "lt", "lte", "date", "year", "month", "day"}


def may_ask(model: type[Model], lookup: str, filters: set[str]) -> bool:
    """Whether the look-up asks a plain field of the model's own how it compares, or for exactly one value of a filter's.

    `filters` are the fields by which the list is filtered. Free text, JSON, bytes, lists and vectors of any other field,
    and whatever lies behind a relation but its id, cannot be asked.
    """
    name, *rest = lookup.split("__")
    field = next((one for one in model._meta.concrete_fields if name in (one.name, one.attname)), None)
    if field is None:
        return False
    if isinstance(field, models.ForeignKey):
        rest = rest[1:] if rest[:1] in (["id"], ["pk"], [field.target_field.name]) else rest
        return set(rest) <= SAME
    if isinstance(field, PLAIN) or getattr(field, "choices", None):
        return set(rest) <= COMPARED
    return name in filters and set(rest) <= SAME


class PlainLookups:
    """Lets addresses ask a model's admin for nothing but what `may_ask` says."""

    def lookup_allowed(self: Any, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        """Whether the address may ask this."""
        filters = {one[0] if isinstance(one, (tuple, list)) else one for one in self.list_filter}
        return may_ask(self.model, lookup, filters)


# The one door for operators too: its limits hold, and whoever is signed in need not sign in again.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

admin.site.unregister(Group)
admin.site.unregister(EmailAddress)


def is_above(request: HttpRequest, person: User | None) -> bool:
    """Return whether the person is a superuser and who asks is none."""
    return person is not None and person.is_superuser and not request.user.is_superuser


class NewUserForm(UserCreationForm):  # type: ignore[misc]
    """An account opened by an operator; its e-mail address is kept in lower case, as signing up does."""

    class Meta:
        model = User
        fields = ("email",)

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"].lower()
        of_somebody = EmailAddress.objects.filter(email__iexact=email)
        if User.objects.filter(email__iexact=email).exists() or of_somebody.exists():
            raise forms.ValidationError(_("Someone has an account with this e-mail address."))
        return email


class KnownUserForm(UserChangeForm):  # type: ignore[misc]
    """A person's row; zone and language are chosen from what there is."""

    time_zone = forms.ChoiceField(
        label=_("Time zone"),
        choices=lambda: [(zone, zone) for zone in list_time_zones()],
        widget=UnfoldAdminSelectWidget,
    )
    language = forms.ChoiceField(
        label=_("Language"),
        required=False,
        choices=[("", "–"), *settings.LANGUAGES],
        widget=UnfoldAdminSelectWidget,
    )


@admin.register(User)
class UserAdmin(PlainLookups, DjangoUserAdmin, ModelAdmin):  # type: ignore[misc,type-arg]
    add_form = NewUserForm
    form = KnownUserForm
    change_password_form = AdminPasswordChangeForm
    list_display: Any = (
        "email",
        "name",
        "is_active",
        "is_staff",
        "language",
        "time_zone",
        "last_login",
        "date_joined",
    )
    list_filter = ("is_active", "is_staff", "is_superuser", "language")
    search_fields = ("email", "name")
    ordering = ("-date_joined",)
    date_hierarchy = "date_joined"
    fieldsets = (
        (None, {"fields": ("email", "password", "name")}),
        (_("Where and how they read"), {"fields": ("language", "time_zone")}),
        (_("What they may use"), {"fields": ("messages_per_minute", "tokens_per_day")}),
        (
            _("What they may do"),
            {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")},
        ),
        (_("When"), {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = ((None, {"fields": ("email", "usable_password", "password1", "password2")}),)

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        """The e-mail address is the person's to change; rights are given by superusers alone."""
        fixed = ("last_login", "date_joined") + (("email",) if obj else ())
        rights = ("is_staff", "is_superuser", "groups", "user_permissions")
        return fixed if request.user.is_superuser else fixed + rights

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Whoever may change people may still not touch a superuser, whose password would be theirs then."""
        return not is_above(request, obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return not is_above(request, obj) and super().has_delete_permission(request, obj)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """What goes with a person; who may delete people may delete what is theirs, read-only or not."""
        going, counts, _needed, protected = super().get_deleted_objects(objs, request)
        needed = {str(one) for one in objs if not self.has_delete_permission(request, one)}
        return going, counts, needed, protected

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Keep the user; the address of a new one counts as verified."""
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            if not change:
                EmailAddress.objects.create(user=obj, email=obj.email, verified=True, primary=True)


@admin.register(Group)
class GroupAdmin(PlainLookups, DjangoGroupAdmin, ModelAdmin):  # type: ignore[misc]
    """Groups; as with people, rights are given by superusers alone."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return request.user.is_superuser

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return request.user.is_superuser


@admin.register(EmailAddress)
class EmailAddressAdmin(PlainLookups, ModelAdmin):  # type: ignore[misc]
    list_display = ("email", "user", "verified", "primary")
    list_filter = ("verified", "primary")
    list_select_related = ("user",)
    search_fields = ("email", "user__email")
    autocomplete_fields = ("user",)


@admin.register(Token)
class TokenAdmin(PlainLookups, ModelAdmin):  # type: ignore[misc]
    """Whose keys there are, to be revoked; they are issued by the person or by `create_token`."""

    list_display = ("name", "prefix", "user", "created_at", "last_used_at", "expires_at", "revoked_at")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), "created_at", "last_used_at")
    list_select_related = ("user",)
    search_fields = ("name", "prefix", "user__email")
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
    list_display = ("__str__", "created_by", "created_at", "used_by", "used_at")
    list_filter = (("used_at", admin.EmptyFieldListFilter), "created_at")
    list_select_related = ("created_by", "used_by")
    search_fields = ("note", "code", "used_by__email")
    fields = ("note", "link", "created_by", "created_at", "used_by", "used_at")
    readonly_fields = fields[1:]

    @admin.display(description=_("link to send"))
    def link(self, invitation: Invitation) -> str:
        """The address that lets one person sign up."""
        if invitation.pk is None:
            return gettext("It is shown when you have saved.")
        return f"{settings.KITH_URL}{reverse('account_signup')}?invite={invitation.code}"

    def save_model(self, request: HttpRequest, obj: Invitation, form: Any, change: bool) -> None:
        if not change:
            obj.created_by = request.user  # type: ignore[assignment]
        super().save_model(request, obj, form, change)
        if not change:
            messages.info(request, self.link(obj))


@admin.register(ModelCall)
class ModelCallAdmin(ModelAdmin):  # type: ignore[misc]
    """What was asked of models, for whom, at what cost and how it ended; written by Kith alone."""

    list_display = (
        *("started_at", "user", "purpose", "model", "outcome"),
        *("prompt_tokens", "completion_tokens", "first_piece_milliseconds", "milliseconds"),
    )
    list_filter = ("outcome", "purpose", "is_estimated", "started_at", "model")
    list_select_related = ("user",)
    search_fields = ("user__email", "provider", "model")
    date_hierarchy = "started_at"
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: ModelCall | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ModelCall | None = None) -> bool:
        return False


@admin.register(IdempotencyKey)
class IdempotencyKeyAdmin(PlainLookups, ModelAdmin):  # type: ignore[misc]
    """Which writes were done under which key; kept by Kith alone."""

    list_display = ("created_at", "user", "operation", "key", "made_id")
    list_filter = ("operation", "created_at")
    list_select_related = ("user",)
    search_fields = ("user__email", "key")
    ordering = ("-created_at",)
    fields = ("user", "operation", "key", "made_id", "created_at")
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: IdempotencyKey | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: IdempotencyKey | None = None) -> bool:
        return False

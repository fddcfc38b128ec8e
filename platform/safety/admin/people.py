"""Operators' pages of users, their addresses and API tokens, where changes to accounts are recorded."""

from datetime import datetime, timedelta
from typing import Any, ClassVar, cast

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, FloatField, OuterRef, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from accounts.admin import DeletesEach, NamesPermissions, PlainLookups
from accounts.models import SoundCall, Token, User
from accounts.models.user import list_time_zones, signed_out_elsewhere
from providers.models import OwnProvider
from safety import operators
from safety.admin.columns import code_column, code_filter, link, may_open, moment, number
from safety.admin.private import PrivateAdmin
from safety.audit import get_operator, record
from safety.descriptions import link_to
from safety.models import AuditEntry, OperatorAccess

SOUND_PERIOD = timedelta(days=30)
MAY_SET_PASSWORD = "accounts.set_password"  # noqa: S105 - a right
MAY_CHANGE_ADDRESS = "accounts.change_address"
WHO_CLOSES = _(
    "You cannot change or close this account. Superusers can, and operators whose group may change users; but only "
    "superusers can close a superuser's."
)
RIGHTS = ("is_staff", "is_superuser", "groups", "user_permissions")

# allauth's own pages: Kith's replaces that of addresses; second factors and sessions are the user's private business.
for model in (EmailAddress, Authenticator, UserSession):
    admin.site.unregister(model)


def is_above(request: HttpRequest, person: User | None) -> bool:
    """Return whether the person is a superuser while the requesting user is not."""
    return person is not None and person.is_superuser and not request.user.is_superuser


def annotate_sound(people: QuerySet[User], since: datetime) -> QuerySet[User]:
    """Annotate the users with `characters_spoken` to them and `seconds_heard` from them since `since`.

    Failed calls do not count.
    """
    used = SoundCall.objects.without_failed()
    calls = used.filter(started_at__gte=since, user=OuterRef("pk")).order_by().values("user")
    spoken = calls.filter(capability=SoundCall.Capability.SPEECH).annotate(all=Sum("characters"))
    heard = calls.filter(capability=SoundCall.Capability.TRANSCRIPTION).annotate(all=Sum("seconds"))
    return people.annotate(
        characters_spoken=Coalesce(Subquery(spoken.values("all")), 0),
        seconds_heard=Coalesce(Subquery(heard.values("all")), 0.0, output_field=FloatField()),
    )


def describe_recorded(people: Any) -> list[str]:
    """Return a sentence for each of the users who did something as an operator that is on record."""
    entries = AuditEntry.objects.filter(operator__in=people).order_by("operator__email")
    counts = entries.values_list("operator__email").annotate(count=Count("pk"))
    text = gettext(
        "%(email)s: %(count)s entries of what they did as an operator. The record of it stays, and so must the account: "
        "deactivate it instead."
    )
    return [
        text % {"email": email, "count": number_format(count, force_grouping=True)} for email, count in counts
    ]


class NewUserForm(UserCreationForm):  # type: ignore[misc]
    """The form with which an operator opens an account; it lowercases the e-mail address, as signing up does."""

    class Meta:
        model = User
        fields = ("email",)

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"].lower()
        of_somebody = EmailAddress.objects.filter(email__iexact=email)
        if User.objects.filter(email__iexact=email).exists() or of_somebody.exists():
            raise forms.ValidationError(_("There is already an account with this e-mail address."))
        return email


class KnownUserForm(UserChangeForm):  # type: ignore[misc]
    """The form for an existing user, with choices for time zone and language, and a reason for closing the account."""

    class Meta(UserChangeForm.Meta):  # type: ignore[misc]
        labels: ClassVar[dict[str, Any]] = {
            "messages_per_minute": _("Messages per minute"),
            "tokens_per_day": _("Tokens per day"),
        }
        help_texts: ClassVar[dict[str, Any]] = {
            "is_active": _(
                "Clear it to close the account, and set it to open the account again. While it is closed, its owner "
                "cannot sign in, and companions do not write to them. Nothing is deleted."
            ),
        }

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
    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=500,
        help_text=_(
            "If you close the account or open it again: why. It is recorded, and mailed to its owner."
        ),
        widget=UnfoldAdminTextInputWidget,
    )


def describe_language(code: str) -> str:
    """Return a language's own name for itself."""
    return str(dict(settings.LANGUAGES).get(code, code))


LANGUAGE = code_column("language", _("language"), describe_language)


class UserAdmin(NamesPermissions, DeletesEach, PlainLookups, DjangoUserAdmin, ModelAdmin):  # type: ignore[misc,type-arg]
    """The admin of users; deleting one or setting a password is recorded.

    It is registered, as a subclass, by `companions`, which knows what else belongs to a user.
    """

    add_form = NewUserForm
    form = KnownUserForm
    change_password_form = AdminPasswordChangeForm
    named_by = "email"
    max_selected_rows = 100
    filter_horizontal = ()  # Django's two lists side by side are not accessible to screen readers
    list_display: Any = (
        *("email", "name", "is_active", "is_staff", LANGUAGE),
        *(moment("last_login", _("last login")), moment("date_joined", _("date joined"))),
        *(number("characters_spoken", _("characters spoken (30 days)")), "seconds_heard"),
    )
    list_filter = ("is_active", "is_staff", "is_superuser", ("language", code_filter(describe_language)))
    search_fields = ("email", "name")
    search_help_text = _("Part of an e-mail address or a name")
    ordering = ("-date_joined",)
    date_hierarchy = "date_joined"
    fieldsets = (
        (None, {"fields": ("email", "password", "name")}),
        (_("Language and time zone"), {"fields": ("language", "time_zone")}),
        (
            _("What they may use"),
            {"fields": ("messages_per_minute", "tokens_per_day", "own_models", "age_group")},
        ),
        (_("What they may do"), {"fields": ("is_active", "reason", *RIGHTS)}),
        (_("When"), {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = ((None, {"fields": ("email", "usable_password", "password1", "password2")}),)

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return annotate_sound(super().get_queryset(request), timezone.now() - SOUND_PERIOD)

    @admin.display(description=_("seconds heard (30 days)"), ordering="seconds_heard")
    def seconds_heard(self, person: Any) -> str:
        return number_format(round(person.seconds_heard), force_grouping=True)

    @admin.display(description=_("Own models"))
    def own_models(self, person: User) -> int:
        """Return only how many own models the user has: their addresses and keys are private."""
        return OwnProvider.objects.owned_by(person).count()

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        """Make the e-mail address of an existing user read-only, and rights too unless a superuser asks."""
        fixed = ("last_login", "date_joined", "own_models") + (("email",) if obj else ())
        return fixed if request.user.is_superuser else fixed + RIGHTS

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Let only superusers change a superuser: whoever sets the password could take over the account."""
        return not is_above(request, obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return not is_above(request, obj) and super().has_delete_permission(request, obj)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Return the users by name, but their objects only as counts, since objects' names contain users' words.

        Whoever may delete users may delete their objects too, even those that are read-only in the admin. Operators who
        have done anything stay, as the record of it does.
        """
        names = [str(person) for person in objs]
        if recorded := describe_recorded(objs):
            return names, {}, set(), recorded
        needed = {str(person) for person in objs if not self.has_delete_permission(request, person)}
        return names, self.count_deleted(objs), needed, []

    def count_deleted(self, people: Any) -> dict[str, int]:
        """Return by name how many objects of the most important kinds go when these users are deleted.

        Django's own count loads all of them.
        """
        return {str(self.opts.verbose_name_plural): len(people)}

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Hide the password, with its link, and the reason for a change from operators without the right to them.

        Who may not change the account is told who may.
        """
        fieldsets = super().get_fieldsets(request, obj)
        hidden = set() if obj is None or request.user.has_perm(MAY_SET_PASSWORD) else {"password"}
        may_change = self.has_change_permission(request, obj)
        hidden |= set() if may_change else {"reason"}
        return [
            (
                name,
                {
                    "fields": [field for field in shown["fields"] if field not in hidden],
                    "description": "" if may_change or "is_active" not in shown["fields"] else WHO_CLOSES,
                },
            )
            for name, shown in fieldsets
        ]

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        """Set a user's password and record it. Raise PermissionDenied without the right for it."""
        if not request.user.has_perm(MAY_SET_PASSWORD):
            raise PermissionDenied
        with transaction.atomic():
            before = self.get_object(request, unquote(id))
            response = super().user_change_password(request, id, form_url)
            changed = User.objects.filter(pk=before.pk).exclude(password=before.password) if before else ()
            for person in changed:
                operators.record_password_set(get_operator(request), person, timezone.now())
                signed_out_elsewhere.send(User, user=person)  # the old password's sessions end
        return response

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Save the user, and record it. A new user's address counts as verified."""
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            if change and set(form.changed_data) - {"reason"}:
                was_active = form.initial.get("is_active", obj.is_active)
                reason = form.cleaned_data.get("reason", "")
                operators.record_account_change(
                    get_operator(request), obj, was_active=was_active, reason=reason
                )
            if not change:
                EmailAddress.objects.create(user=obj, email=obj.email, verified=True, primary=True)
            if not change and obj.has_usable_password():
                operators.record_password_set(get_operator(request), obj, timezone.now(), is_new=True)

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        with transaction.atomic():
            record(get_operator(request), AuditEntry.Deed.DELETED, User, obj.pk)
            super().delete_model(request, obj)


class OfPerson:
    """Mixin for an admin that shows whose a row is, with a link if the operator may open people's pages."""

    def get_queryset(self: Any, request: HttpRequest) -> QuerySet[Any]:
        rows: Any = super().get_queryset(request)  # type: ignore[misc]
        return cast(QuerySet[Any], rows.annotate(user_opens=Value(may_open(request, User))))

    @admin.display(description=_("user"), ordering="user__email")
    def of_user(self, row: Any) -> str:
        return link_to("accounts.user", row.user_id, row.user.email, opens=row.user_opens)


@admin.register(EmailAddress)
class EmailAddressAdmin(OfPerson, DeletesEach, PlainLookups, ModelAdmin):  # type: ignore[misc]
    """The admin of addresses, by which users sign in and reset passwords: changes need a right and are recorded."""

    list_display = ("email", "of_user", "verified", "primary")
    list_filter = ("verified", "primary")
    list_select_related = ("user",)
    search_fields = ("email", "user__email")
    search_help_text = _("Part of an e-mail address")
    autocomplete_fields = ("user",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._may(request) and super().has_add_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: EmailAddress | None = None) -> bool:
        return self._may(request, obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: EmailAddress | None = None) -> bool:
        return self._may(request, obj) and super().has_delete_permission(request, obj)

    def _may(self, request: HttpRequest, obj: EmailAddress | None = None) -> bool:
        """Return whether the operator may change addresses, and this one: a superuser's only if they are one too."""
        return not is_above(request, obj and obj.user) and request.user.has_perm(MAY_CHANGE_ADDRESS)

    def get_readonly_fields(self, request: HttpRequest, obj: EmailAddress | None = None) -> tuple[str, ...]:
        return ("of_user",) if obj else ()

    def get_fields(self, request: HttpRequest, obj: EmailAddress | None = None) -> tuple[str, ...]:
        """Show the user of an existing address read-only, so that it cannot be moved to another user."""
        return ("email", "verified", "primary", "of_user" if obj else "user")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "user" and not request.user.is_superuser:
            kwargs["queryset"] = User.objects.filter(is_superuser=False)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: EmailAddress, form: Any, change: bool) -> None:
        with transaction.atomic():
            operators.record_address_change(get_operator(request), obj.user, timezone.now())
            super().save_model(request, obj, form, change)

    def delete_model(self, request: HttpRequest, obj: EmailAddress) -> None:
        with transaction.atomic():
            operators.record_address_change(get_operator(request), obj.user, timezone.now())
            super().delete_model(request, obj)


@admin.register(Token)
class TokenAdmin(OfPerson, DeletesEach, PlainLookups, ModelAdmin):  # type: ignore[misc]
    """API tokens, issued on the settings page or by `create_token`. Operators who may change them may revoke them."""

    list_display: Any = (
        *("name", "prefix", "of_user"),
        *(moment("created_at", _("created")), moment("last_used_at", _("last used"))),
        *(moment("expires_at", _("expires")), moment("revoked_at", _("revoked"))),
    )
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), "created_at", "last_used_at")
    list_select_related = ("user",)
    search_fields = ("name", "prefix", "user__email")
    search_help_text = _("Its name or beginning, or the owner's e-mail")
    fields = readonly_fields = list_display
    actions = ("revoke",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Token | None = None) -> bool:
        """Return False: nothing of a token can be edited, so its page has nothing to save."""
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.change_token")

    @admin.action(description=_("Revoke"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, tokens: QuerySet[Token]) -> None:
        """Revoke the selected tokens, each on record, except those that are revoked already."""
        valid = list(tokens.filter(revoked_at=None))
        for token in valid:
            with transaction.atomic():
                token.revoke(timezone.now())
                record(get_operator(request), AuditEntry.Deed.CHANGED, Token, token.pk, token.user_id)
        messages.success(request, gettext("Revoked: %(count)s") % {"count": len(valid)})

    def delete_model(self, request: HttpRequest, obj: Token) -> None:
        with transaction.atomic():
            record(get_operator(request), AuditEntry.Deed.DELETED, Token, obj.pk, obj.user_id)
            super().delete_model(request, obj)


@admin.register(OperatorAccess)
class OperatorAccessAdmin(PrivateAdmin):
    """The admin of operators' access: who may be able to sign in as whom."""

    named_by = "at"
    owner_path = "user"
    search_ids = ("pk",)
    list_display: Any = (moment("at", _("since")), "owner", "by", "is_address_changed")
    list_filter = ("is_address_changed", "at")
    ordering = ("-at",)
    fields = ("owner", "by", "email", "is_address_changed", "at")

    by = link("operator", _("operator"))

"""People and their addresses: what an operator does to an account is on record."""

from datetime import datetime, timedelta
from typing import Any, cast

from allauth.account.models import EmailAddress
from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import FloatField, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.admin import EmailAddressAdmin, UserAdmin, is_above
from accounts.models import SoundCall, User
from safety import operators
from safety.admin.private import PrivateAdmin, link_to, moment
from safety.audit import record
from safety.models import AuditEntry, OperatorAccess

SOUND_PERIOD = timedelta(days=30)
MAY_SET_PASSWORD = "accounts.set_password"  # noqa: S105 - a right
MAY_CHANGE_ADDRESS = "accounts.change_address"

admin.site.unregister(User)
admin.site.unregister(EmailAddress)


def annotate_sound(people: QuerySet[User], since: datetime) -> QuerySet[User]:
    """Annotate the people with `characters_spoken` to them and `seconds_heard` of them since then."""
    calls = SoundCall.objects.since(since).filter(user=OuterRef("pk")).order_by().values("user")
    spoken = calls.filter(capability=SoundCall.Capability.SPEECH).annotate(all=Sum("characters"))
    heard = calls.filter(capability=SoundCall.Capability.TRANSCRIPTION).annotate(all=Sum("seconds"))
    return people.annotate(
        characters_spoken=Coalesce(Subquery(spoken.values("all")), 0),
        seconds_heard=Coalesce(Subquery(heard.values("all")), 0.0, output_field=FloatField()),
    )


def get_operator(request: HttpRequest) -> User:
    """Return who is signed in."""
    return cast(User, request.user)


@admin.register(User)
class RecordedUserAdmin(UserAdmin):
    """People as the room of accounts shows them; who deletes one, or sets a password, does it on record."""

    list_display: Any = (*UserAdmin.list_display, "characters_spoken", "seconds_heard")

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return annotate_sound(super().get_queryset(request), timezone.now() - SOUND_PERIOD)

    @admin.display(description=_("characters spoken (30 days)"), ordering="characters_spoken")
    def characters_spoken(self, person: Any) -> int:
        return int(person.characters_spoken)

    @admin.display(description=_("seconds heard (30 days)"), ordering="seconds_heard")
    def seconds_heard(self, person: Any) -> int:
        seconds: float = person.seconds_heard
        return round(seconds)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """The people alone: what is theirs is counted, for its names are their words."""
        _going, counts, needed, protected = super().get_deleted_objects(objs, request)
        return [str(person) for person in objs], counts, needed, protected

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        """No way to the password for whom it is not."""
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or request.user.has_perm(MAY_SET_PASSWORD):
            return fieldsets
        return [
            (name, {**shown, "fields": [field for field in shown["fields"] if field != "password"]})
            for name, shown in fieldsets
        ]

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        """Set a person's password, which has a right of its own, on record."""
        if not request.user.has_perm(MAY_SET_PASSWORD):
            raise PermissionDenied
        with transaction.atomic():
            before = self.get_object(request, unquote(id))
            response = super().user_change_password(request, id, form_url)
            person = (
                User.objects.filter(pk=before.pk).exclude(password=before.password).first()
                if before
                else None
            )
            if person:
                operators.record_password_set(get_operator(request), person, timezone.now())
        return response

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Keep the person; whoever opens an account knows its password until it is changed."""
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            if not change and obj.has_usable_password():
                operators.record_password_set(get_operator(request), obj, timezone.now(), is_new=True)

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        with transaction.atomic():
            record(request.user, AuditEntry.Deed.DELETED, User, obj.pk)  # type: ignore[arg-type]
            super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for person in queryset:
            self.delete_model(request, person)


@admin.register(EmailAddress)
class RecordedEmailAddressAdmin(EmailAddressAdmin):
    """Addresses, by which people sign in and get new passwords: to change them is a right of its own, and on record."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._may(request) and super().has_add_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: EmailAddress | None = None) -> bool:
        return self._may(request, obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: EmailAddress | None = None) -> bool:
        return self._may(request, obj) and super().has_delete_permission(request, obj)

    def _may(self, request: HttpRequest, obj: EmailAddress | None = None) -> bool:
        """Whether it is one who may; those of superusers are for superusers."""
        return not is_above(request, obj and obj.user) and request.user.has_perm(MAY_CHANGE_ADDRESS)

    def get_readonly_fields(self, request: HttpRequest, obj: EmailAddress | None = None) -> tuple[str, ...]:
        """An address does not go over to somebody else."""
        return ("user",) if obj else ()

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

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[EmailAddress]) -> None:
        for address in queryset.select_related("user"):
            self.delete_model(request, address)


@admin.register(OperatorAccess)
class OperatorAccessAdmin(PrivateAdmin):
    """Who may be able to sign in as whom."""

    owner_path = "user"
    search_ids = ("pk",)
    list_display: Any = ("owner", "by", moment("at", _("since")), "is_address_changed")
    list_filter = ("is_address_changed", "at")
    ordering = ("-at",)
    fields = ("owner", "by", "email", "is_address_changed", "at")

    @admin.display(description=_("operator"))
    def by(self, access: OperatorAccess) -> str:
        return link_to("accounts.user", access.operator_id)

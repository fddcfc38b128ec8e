"""What people stored, and what was asked of speech and transcription providers for them: sizes and ends, no sound."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib import admin
from django.db.models import FloatField, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from accounts.models import SoundCall, User
from files.models import StoredFile
from safety.private_admin import PrivateAdmin, moment

SOUND_SHOWN = timedelta(days=30)


def with_sound(people: QuerySet[User], since: datetime) -> QuerySet[User]:
    """The people with `characters_spoken` to them and `seconds_heard` of them since then."""
    calls = SoundCall.objects.since(since).filter(user=OuterRef("pk")).order_by().values("user")
    spoken = calls.filter(capability=SoundCall.Capability.SPEECH).annotate(all=Sum("characters"))
    heard = calls.filter(capability=SoundCall.Capability.TRANSCRIPTION).annotate(all=Sum("seconds"))
    return people.annotate(
        characters_spoken=Coalesce(Subquery(spoken.values("all")), 0),
        seconds_heard=Coalesce(Subquery(heard.values("all")), 0.0, output_field=FloatField()),
    )


@admin.register(StoredFile)
class StoredFileAdmin(PrivateAdmin):
    """Something binary of a person's. Its content is not shown here: only its owner is given that."""

    owner_path = "user"
    search_ids = ("pk", "user", "companion")
    list_display: Any = (
        *("short_id", "owner", "of_companion", "kind", "bytes", "seconds", "width", "height"),
        *(moment("created_at", _("stored")), moment("missed_at", _("content found missing"))),
    )
    list_filter = ("kind", "created_at", ("missed_at", admin.EmptyFieldListFilter))
    fields = (
        *("id", "owner", "of_companion", "kind", "content_type", "bytes", "sha256", "seconds"),
        *("width", "height", "key", "created_at", "missed_at"),
    )


@admin.register(SoundCall)
class SoundCallAdmin(PrivateAdmin):
    """One call of a speech or transcription provider; what it said of it may quote the person."""

    owner_path = "user"
    words = ("said",)
    search_ids = ("pk", "user", "companion")
    list_display: Any = (
        *(moment("started_at", _("started")), "owner", "capability", "outcome"),
        *("characters", "seconds", "milliseconds"),
    )
    list_filter = ("capability", "outcome", "started_at", "model")
    fields = (
        *("owner", "of_companion", "capability", "provider", "model", "outcome", "started_at"),
        *("characters", "seconds", "milliseconds"),
    )

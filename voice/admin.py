"""The admin of voices, speech and recordings, for operators: no sound, and texts only with an audit entry."""

from typing import Any

from django.contrib import admin
from django.db.models import Count
from django.utils.translation import gettext_lazy as _

from safety.admin import PrivateAdmin, filled_filter, link, moment
from voice.models import Recording, Speech, Spoken, Voice


@admin.register(Voice)
class VoiceAdmin(PrivateAdmin):
    """A companion's voice, and the consent of its owner."""

    titled_by = "companion_called"
    words = ("name", "reference_text", "consent")
    search_ids = ("pk", "reference")
    list_display = (
        *("page", "owner", "of_companion", "speed", "reads_aloud", "of_reference"),
        moment("consented_at", _("consent given")),
    )
    list_filter = ("reads_aloud", ("reference", admin.EmptyFieldListFilter))
    ordering = ("-pk",)
    fields = ("owner", "of_companion", "speed", "reads_aloud", "of_reference", "consented_at")

    of_reference = link("reference", _("reference recording"))


@admin.register(Speech)
class SpeechAdmin(PrivateAdmin):
    """A sentence as sound, with the number of its uses."""

    named_by = "created_at"
    annotations = {"uses": Count("spoken")}
    search_ids = ("pk", "companion", "file")
    list_display = (
        moment("created_at", _("created")),
        *("owner", "of_companion", "seconds", "used", "of_file"),
    )
    list_filter = ("created_at",)
    ordering = ("-pk",)
    fields = ("id", "owner", "of_companion", "seconds", "used", "of_file", "created_at")

    @admin.display(description=_("enabled"), ordering="uses")
    def used(self, speech: Any) -> int:
        return int(speech.uses)

    of_file = link("file", _("file"))


@admin.register(Spoken)
class SpokenAdmin(PrivateAdmin):
    """A use of a speech: which sentence of which reply or message it is."""

    search_ids = ("pk", "companion", "reply", "message", "speech")
    list_display = ("page", "owner", "of_companion", "of_reply", "of_message", "number", "of_speech")
    list_filter = (("reply", filled_filter(_("reply"))),)
    ordering = ("-pk",)
    fields = ("id", "owner", "of_companion", "of_reply", "of_message", "number", "of_speech")

    of_reply = link("reply", _("reply"))
    of_message = link("message", _("message"))

    of_speech = link("speech", _("speech"))


@admin.register(Recording)
class RecordingAdmin(PrivateAdmin):
    """A person's recording: its length, and what was heard in it."""

    named_by = "created_at"
    words = ("heard",)
    search_ids = ("pk", "companion", "message", "file")
    list_display = (
        moment("created_at", _("recorded")),
        *("owner", "of_companion", "of_message", "seconds", "language", "of_file"),
    )
    list_filter = ("language", ("message", filled_filter(_("message"))), "created_at")
    fields = (*("id", "owner", "of_companion", "of_message", "seconds", "language", "of_file"), "created_at")

    of_message = link("message", _("message"))
    of_file = link("file", _("file"))

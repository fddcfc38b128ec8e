"""Voices, what was said with them and what was heard, for operators: no sound, and words only on record."""

from typing import Any

from django.contrib import admin
from django.db.models import Count
from django.utils.translation import gettext_lazy as _

from safety.admin import PrivateAdmin, link_to, moment
from voice.models import Recording, Speech, Spoken, Voice


@admin.register(Voice)
class VoiceAdmin(PrivateAdmin):
    """How a companion sounds, and who has agreed to it."""

    words = ("name", "reference_text", "consent")
    search_ids = ("pk", "reference")
    list_display = (
        *("short_id", "owner", "of_companion", "speed", "reads_aloud", "of_reference"),
        moment("consented_at", _("consent given")),
    )
    list_filter = ("reads_aloud", ("reference", admin.EmptyFieldListFilter))
    ordering = ("-pk",)
    fields = ("owner", "of_companion", "speed", "reads_aloud", "of_reference", "consented_at")

    @admin.display(description=_("reference recording"))
    def of_reference(self, voice: Voice) -> str:
        return link_to("files.storedfile", voice.reference_id)


@admin.register(Speech)
class SpeechAdmin(PrivateAdmin):
    """A sentence as sound, and how often it is in use."""

    annotations = {"uses": Count("spoken")}
    search_ids = ("pk", "companion", "file")
    list_display = (
        *("id", "owner", "of_companion", "seconds", "used", "of_file"),
        moment("created_at", _("made")),
    )
    list_filter = ("created_at",)
    ordering = ("-pk",)
    fields = ("id", "owner", "of_companion", "digest", "seconds", "used", "of_file", "created_at")

    @admin.display(description=_("in use"), ordering="uses")
    def used(self, speech: Any) -> int:
        return int(speech.uses)

    @admin.display(description=_("file"))
    def of_file(self, speech: Speech) -> str:
        return link_to("files.storedfile", speech.file_id)


@admin.register(Spoken)
class SpokenAdmin(PrivateAdmin):
    """Which sentence of which answer a speech is."""

    search_ids = ("pk", "companion", "reply", "message", "speech")
    list_display = ("id", "owner", "of_companion", "of_reply", "of_message", "number", "of_speech")
    list_filter = (("reply", admin.EmptyFieldListFilter),)
    ordering = ("-pk",)
    fields = ("id", "owner", "of_companion", "of_reply", "of_message", "number", "of_speech")

    @admin.display(description=_("reply"))
    def of_reply(self, spoken: Spoken) -> str:
        return link_to("companions.reply", spoken.reply_id)

    @admin.display(description=_("message"))
    def of_message(self, spoken: Spoken) -> str:
        return link_to("companions.message", spoken.message_id)

    @admin.display(description=_("speech"))
    def of_speech(self, spoken: Spoken) -> str:
        return link_to("voice.speech", spoken.speech_id)


@admin.register(Recording)
class RecordingAdmin(PrivateAdmin):
    """What a person has said aloud: how long, and what was heard of it."""

    words = ("heard",)
    search_ids = ("pk", "companion", "message", "file")
    list_display = (
        *("short_id", "owner", "of_companion", "of_message", "seconds", "language", "of_file"),
        moment("created_at", _("recorded")),
    )
    list_filter = ("language", ("message", admin.EmptyFieldListFilter), "created_at")
    fields = (
        *("id", "owner", "of_companion", "of_message", "seconds", "language", "of_file"),
        "created_at",
    )

    @admin.display(description=_("message"))
    def of_message(self, recording: Recording) -> str:
        return link_to("companions.message", recording.message_id)

    @admin.display(description=_("file"))
    def of_file(self, recording: Recording) -> str:
        return link_to("files.storedfile", recording.file_id)

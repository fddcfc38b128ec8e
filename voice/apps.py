from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class VoiceConfig(AppConfig):
    name = "voice"
    verbose_name = _("Voice")

    def ready(self) -> None:
        from companions.archives.sections import Section, register
        from companions.transfer.json_export import EXPORTED
        from voice import hearing  # noqa: F401 (its receiver)
        from voice.models import Recording, Voice
        from voice.speech import cache, voices  # noqa: F401 (their receivers)

        EXPORTED["voices"] = Voice, "companion"
        EXPORTED["recordings"] = Recording, "companion"
        register(
            "voice",
            Section(
                Voice,
                (
                    *("name", "speed", "reads_aloud", "reference_id", "reference_text", "consent"),
                    "consented_at",
                ),
                most=1,
            ),
        )
        register(
            "recordings",
            Section(Recording, ("id", "message_id", "file_id", "heard", "language", "seconds", "created_at")),
        )

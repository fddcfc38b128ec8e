from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class VoiceConfig(AppConfig):
    name = "voice"
    verbose_name = _("Voice")

    def ready(self) -> None:
        from companions.transfer.archive import SECTIONS
        from voice import hearing  # noqa: F401 (its receiver)
        from voice.models import Recording, Voice
        from voice.speech import cache, voices  # noqa: F401 (their receivers)

        SECTIONS["voices"] = Voice, "companion"
        SECTIONS["recordings"] = Recording, "companion"

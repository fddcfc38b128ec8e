from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class VoiceConfig(AppConfig):
    name = "voice"
    verbose_name = _("Voice")

    def ready(self) -> None:
        from voice import exporting  # noqa: F401 (its sections of a companion's file)
        from voice.hearing import leaving  # noqa: F401 (its receiver)
        from voice.speaking import leaving as of_speech  # noqa: F401 (its receivers)

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CompanionsConfig(AppConfig):
    name = "companions"
    verbose_name = _("Companions")

    def ready(self) -> None:
        from companions import deletion  # noqa: F401 (these modules connect signal receivers when they are imported)
        from companions.conversations import attachments  # noqa: F401
        from companions.life.outreach import Email, register
        from companions.life.timers import timers  # noqa: F401
        from companions.sockets import signals  # noqa: F401

        register(Email())

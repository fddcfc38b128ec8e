from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CompanionsConfig(AppConfig):
    name = "companions"
    verbose_name = _("Companions")

    def ready(self) -> None:
        from companions import deletion, socket_end  # noqa: F401 (they hear of whatever is deleted, or ended)
        from companions.life import zones  # noqa: F401 (it hears of whoever moves)
        from companions.life.channels import register
        from companions.life.email import Email

        register(Email())

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class SafetyConfig(AppConfig):
    name = "safety"
    verbose_name = _("Safety")

    def ready(self) -> None:
        from safety import signals
        from safety.operators import grant

        post_migrate.connect(grant, dispatch_uid="safety.operators")
        signals.connect()

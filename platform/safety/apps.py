from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class SafetyConfig(AppConfig):
    name = "safety"
    verbose_name = _("Safety")

    def ready(self) -> None:
        from safety import operator_access  # noqa: F401 (its receivers)
        from safety.operators import grant_rights

        post_migrate.connect(grant_rights, dispatch_uid="safety.operators")

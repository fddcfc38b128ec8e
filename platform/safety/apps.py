from importlib import import_module

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class SafetyConfig(AppConfig):
    name = "safety"
    verbose_name = _("Safety")

    def ready(self) -> None:
        operators = import_module("safety.operators")  # also for its receivers
        # Here, after the permissions' own: only then are there rights to give.
        post_migrate.connect(operators.grant_rights, dispatch_uid="safety.operators")

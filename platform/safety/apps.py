from importlib import import_module

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class SafetyConfig(AppConfig):
    name = "safety"
    verbose_name = _("Safety")

    def ready(self) -> None:
        operators = import_module("safety.operators")  # also registers its signal receivers
        # Connected here, so that it runs after Django's own handler has created the permissions.
        post_migrate.connect(operators.grant_rights, dispatch_uid="safety.operators")

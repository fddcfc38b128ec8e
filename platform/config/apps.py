from importlib import import_module

from django.apps import AppConfig
from django.conf import settings
from django.contrib.admin.apps import SimpleAdminConfig
from django.core.checks import CheckMessage, Warning, register


@register
def check_names(**_: object) -> list[CheckMessage]:
    """Return a warning for each variable that is named like a setting of Kith and is none."""
    return [Warning(sentence, id="config.W001") for sentence in settings.UNKNOWN_SETTINGS]


class KithConfig(AppConfig):
    name = "config"
    verbose_name = "Kith"

    def ready(self) -> None:
        """Import Kith's Celery application, so that shared tasks use it. (The runner needs neither it nor Django.)"""
        import_module("config.celery")


class KithAdminConfig(SimpleAdminConfig):
    """Leaves the import of the admin modules to `config.urls`, which saves processes without pages 30 MB."""

    default_site = "config.admin.site.KithAdminSite"

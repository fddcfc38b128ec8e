from importlib import import_module

from django.apps import AppConfig
from django.contrib.admin.apps import SimpleAdminConfig


class KithConfig(AppConfig):
    name = "config"
    verbose_name = "Kith"

    def ready(self) -> None:
        """Import Kith's Celery application, so that shared tasks use it. (The runner needs neither it nor Django.)"""
        import_module("config.celery")


class KithAdminConfig(SimpleAdminConfig):
    """Leaves the import of the admin modules to `config.urls`, which saves processes without pages 30 MB."""

    default_site = "config.admin.site.KithAdminSite"

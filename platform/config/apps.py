from importlib import import_module

from django.apps import AppConfig
from django.contrib.admin.apps import SimpleAdminConfig


class KithConfig(AppConfig):
    name = "config"
    verbose_name = "Kith"

    def ready(self) -> None:
        """Make Kith's Celery the one that tasks belong to; the runner, which needs no Django, does without it."""
        import_module("config.celery")


class KithAdminConfig(SimpleAdminConfig):
    """Leave the admin's modules to config.urls: what serves no pages, as the worker, does without their 30 MB."""

    default_site = "config.admin_site.KithAdminSite"

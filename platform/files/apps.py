from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class FilesConfig(AppConfig):
    name = "files"
    verbose_name = _("Files")

    def ready(self) -> None:
        import_module("files.contents")  # its receivers

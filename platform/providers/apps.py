from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ProvidersConfig(AppConfig):
    """The app of outside model services, with the providers that operators keep in the database."""

    name = "providers"
    verbose_name = _("Providers")

    def ready(self) -> None:
        from providers import checks  # noqa: F401 (importing the checks registers them)

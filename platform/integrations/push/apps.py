from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PushConfig(AppConfig):
    name = "integrations.push"
    label = "push"
    verbose_name = _("Notifications")

    def ready(self) -> None:
        """Register the push channel, since `companions` must not import integrations."""
        from companions.life.outreach import register
        from integrations.push.channel import Push

        register(Push())

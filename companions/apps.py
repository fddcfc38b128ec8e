from django.apps import AppConfig


class CompanionsConfig(AppConfig):
    name = "companions"
    verbose_name = "Companions"

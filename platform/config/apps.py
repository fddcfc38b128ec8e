from django.apps import AppConfig


class KithConfig(AppConfig):
    name = "config"
    verbose_name = "Kith"

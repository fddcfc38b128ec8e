from django.apps import AppConfig


class CompanionsConfig(AppConfig):
    name = "companions"
    verbose_name = "Companions"

    def ready(self) -> None:
        from companions import deletion  # noqa: F401 (it hears of whatever is deleted)

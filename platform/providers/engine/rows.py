"""The providers whose models Kith's own engine runs: which engines the database wants, and a file put in force."""

import fcntl

from django.conf import settings

from providers.engine.plan import CONTEXT_TOKENS
from providers.engine.registry import WantedEngine, write_wanted
from providers.models import Provider


def read_active_engines() -> dict[int, WantedEngine]:
    """Return the engines of all active providers that have a file, by the providers' ids."""
    return {
        row.pk: WantedEngine(
            row.engine_file, row.model, row.context_tokens or CONTEXT_TOKENS, row.slots or 1, row.threads or 0
        )
        for row in Provider.objects.filter(is_active=True).exclude(engine_file="").order_by("pk")
    }


def want_engines(*, are_waiting: bool = False) -> None:
    """Tell `make up`, where it runs Kith, which engines to run: none while the database's providers wait.

    Of several that tell it at once, the last to read the database writes last.
    """
    if not settings.ENGINE_KEY:
        return
    with (settings.KITH_HOME / "engines.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        write_wanted(settings.KITH_HOME, {} if are_waiting else read_active_engines())

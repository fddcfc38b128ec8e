"""The providers whose models Kith's own engine runs: which engines the database wants, and a file put in force."""

import fcntl

from django.conf import settings

from providers.engine.plan import CONTEXT_TOKENS, EMBEDDING_CONTEXT_TOKENS
from providers.engine.registry import WantedEngine, write_wanted
from providers.models import Provider


def read_active_engines(*, are_waiting: bool) -> dict[int, WantedEngine]:
    """Return the engines of all active providers that have a file, by the providers' ids; of embedding alone, where the
    others wait.
    """
    rows = Provider.objects.filter(is_active=True).exclude(engine_file="").order_by("pk")
    return {
        row.pk: WantedEngine(
            row.engine_file, row.model, count_context(row), row.slots or 1, row.threads or 0, is_embedder(row)
        )
        for row in rows
        if is_embedder(row) or not are_waiting
    }


def is_embedder(row: Provider) -> bool:
    return bool(row.capability == Provider.Capability.EMBEDDING)


def count_context(row: Provider) -> int:
    """Return the tokens of context of each request; for an embedder twice those of its windows, which are estimated."""
    if is_embedder(row):
        return max(EMBEDDING_CONTEXT_TOKENS, 2 * (row.context_tokens or 0))
    return row.context_tokens or CONTEXT_TOKENS


def want_engines(*, are_waiting: bool = False) -> None:
    """Tell `make up`, where it runs Kith, which engines to run: of the talk none while the environment sets that.

    Of several that tell it at once, the last to read the database writes last.
    """
    if not settings.ENGINE_KEY:
        return
    with (settings.KITH_HOME / "engines.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        write_wanted(settings.KITH_HOME, read_active_engines(are_waiting=are_waiting))

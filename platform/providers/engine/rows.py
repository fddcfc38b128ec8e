"""The providers whose models Kith's own engine runs, and the engines that are to run for them."""

import fcntl

from django.conf import settings

from providers.engine.plan import CONTEXT_TOKENS, EMBEDDING_CONTEXT_TOKENS
from providers.engine.registry import WantedEngine, write_wanted
from providers.models import Provider


def read_active_engines(*, are_waiting: bool) -> dict[int, WantedEngine]:
    """Return the engines of the active providers that have a model file, keyed by the providers' ids.

    With `are_waiting`, return only those for embedding.
    """
    rows = Provider.objects.filter(is_active=True).exclude(engine_file="").order_by("pk")
    return {
        row.pk: WantedEngine(
            row.engine_file, row.model, count_context(row), row.slots or 1, row.threads or 0, row.is_embedder
        )
        for row in rows
        if row.is_embedder or not are_waiting
    }


def count_context(row: Provider) -> int:
    """Return the tokens of context for each request; for an embedder twice its windows, whose tokens are estimates."""
    if row.is_embedder:
        return max(EMBEDDING_CONTEXT_TOKENS, 2 * (row.context_tokens or 0))
    return row.context_tokens or CONTEXT_TOKENS


def want_engines(*, are_waiting: bool) -> None:
    """Tell `make up`, if it runs Kith, which engines to run; only those for embedding if `are_waiting`.

    `are_waiting` is true while the environment sets the chat provider. A lock makes the last one to read the database
    also the last to write.
    """
    if not settings.ENGINE_KEY:
        return
    with (settings.KITH_HOME / "engines.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        write_wanted(settings.KITH_HOME, read_active_engines(are_waiting=are_waiting))

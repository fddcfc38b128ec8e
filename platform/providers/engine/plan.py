"""How a model file is run on this machine: its context, slots and threads, as wanted and as there is memory for."""

import os
from dataclasses import dataclass

import psutil

from providers.engine.gguf import ModelFile, ModelFileError
from providers.engine.gguf import gettext_noop as _

CONTEXT_TOKENS, MIN_CONTEXT_TOKENS = 8192, 2048  # the default, and the size from which it is not halved
EMBEDDING_CONTEXT_TOKENS = 2048  # longer texts are embedded in smaller windows
MEMORY_SHARE = 0.85  # of the memory that is free now, at most
DRY_MULTIPLIER = 0.8  # of chat models: small ones, as people run them at home, often repeat themselves


@dataclass(frozen=True, slots=True)
class EnginePlan:
    """How a model file is run: `slots` is the number of simultaneous requests, `context_tokens` the context of each."""

    context_tokens: int
    slots: int
    threads: int


def measure_room() -> int:
    """Return how many bytes of memory a model may take now."""
    return int(psutil.virtual_memory().available * MEMORY_SHARE)


def plan_engine(
    model: ModelFile, room_bytes: int, *, context_tokens: int = 0, slots: int = 0, threads: int = 0
) -> EnginePlan:
    """Return how to run the model; values of 0 are chosen. Raise ModelFileError if it does not fit into `room_bytes`.

    The context is limited to what the model was made for and, if it is chosen, to what there is memory for. By default
    one core is left to other processes.
    """
    slots, threads = slots or 1, threads or max((os.cpu_count() or 1) - 1, 1)
    context = context_tokens or CONTEXT_TOKENS
    context = min(context, model.context_tokens or context)
    while (
        not context_tokens
        and context > MIN_CONTEXT_TOKENS
        and model.estimate_bytes(context * slots) > room_bytes
    ):
        context //= 2
    if (needed := model.estimate_bytes(context * slots)) > room_bytes:
        raise ModelFileError(
            _(
                "%(path)s needs about %(needed)s GB of memory with %(context)s tokens of context, but only %(room)s GB"
                " is free for it. Choose a smaller file or less context."
            ),
            path=model.path,
            needed=f"{needed / 1e9:.1f}",
            context=f"{context:,}",
            room=f"{room_bytes / 1e9:.1f}",
        )
    return EnginePlan(context, slots, threads)


def require_chat(model: ModelFile) -> None:
    """Raise ModelFileError if the model has no chat template."""
    if not model.has_template:
        raise ModelFileError(
            _(
                "%(path)s has no chat template, so it was not made for chatting. Choose the file of an “instruct” or"
                " “chat” model."
            ),
            path=model.path,
        )


def plan_embedder(model: ModelFile, room_bytes: int) -> EnginePlan:
    """Return how to run the model for embedding. Raise ModelFileError if it was not made for that or does not fit."""
    if not model.is_embedder:
        raise ModelFileError(
            _("%(path)s was not made for embedding. Choose the file of an embedding model, such as bge-m3."),
            path=model.path,
        )
    return plan_engine(model, room_bytes, context_tokens=EMBEDDING_CONTEXT_TOKENS)

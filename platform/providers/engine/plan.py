"""How a model file is run on this machine: context, requests at once and threads, by what is wanted and what is free."""

import os
from dataclasses import dataclass

import psutil
from django.utils.translation import gettext_noop as _

from providers.engine.gguf import ModelFile, ModelFileError

CONTEXT_TOKENS, MIN_CONTEXT_TOKENS = 8192, 2048  # what is chosen where none is wanted, and the least of it
EMBEDDING_CONTEXT_TOKENS = 2048  # longer texts are embedded in windows of fewer
MEMORY_SHARE = 0.85  # of what is free now, at most


@dataclass(frozen=True, slots=True)
class EnginePlan:
    """How a model file is run: `context_tokens` are those of each of the `slots`, which are requests at once."""

    context_tokens: int
    slots: int
    threads: int


def measure_room() -> int:
    """Return how many bytes of memory a model may take now."""
    return int(psutil.virtual_memory().available * MEMORY_SHARE)


def plan_engine(
    model: ModelFile, room_bytes: int, *, context_tokens: int = 0, slots: int = 0, threads: int = 0
) -> EnginePlan:
    """Return how to run the model; what is 0 is chosen. ModelFileError where it does not fit into the room.

    Context is as much as the model was made for, and where none is wanted, as there is memory for. One core is left to
    the rest.
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
                "%(path)s needs about %(needed)s GB of memory with %(context)s tokens of context, and %(room)s GB are"
                " free for it. Choose a smaller file, or less context."
            ),
            path=model.path,
            needed=f"{needed / 1e9:.1f}",
            context=f"{context:,}",
            room=f"{room_bytes / 1e9:.1f}",
        )
    return EnginePlan(context, slots, threads)


def require_chat(model: ModelFile) -> None:
    """Raise ModelFileError where the model was not made to hold a talk."""
    if not model.has_template:
        raise ModelFileError(
            _(
                "%(path)s has no chat template, so it was not made to hold a talk. Choose a file of an “instruct” or"
                " “chat” model."
            ),
            path=model.path,
        )


def plan_embedder(model: ModelFile, room_bytes: int) -> EnginePlan:
    """Return how to run the model for embedding; ModelFileError where it was not made for that, or does not fit."""
    if not model.is_embedder:
        raise ModelFileError(
            _("%(path)s was not made for embedding. Choose a file of an embedding model, such as bge-m3."),
            path=model.path,
        )
    return plan_engine(model, room_bytes, context_tokens=EMBEDDING_CONTEXT_TOKENS)

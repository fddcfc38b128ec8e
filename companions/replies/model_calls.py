"""The requests to the model that a reply makes: each is recorded with its prompt before it is made, and as it ends."""

from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter
from time import perf_counter
from typing import Any

from django.conf import settings
from django.db import transaction

from accounts.models import ModelCall
from companions.models import Prompt, Reply
from companions.models.companion import lock
from companions.prompting.history import Line
from companions.replies.context import TurnContext
from companions.replies.lifecycle import hold_reply
from jobs.background import in_thread_with_retry
from jobs.lease import Clock
from providers.chat.events import Usage
from providers.chat_provider import OWN
from providers.errors import ProviderError, ProviderRefused
from providers.failures import note_failure
from providers.tokens import estimate_answer, estimate_messages, neutralise_messages
from text.strings import storable

Outcome = ModelCall.Outcome


class Meter:
    """The measurements of one request to the model: time of the first piece, text received, and token usage.

    `wrote` is the model's raw output if what was published differs from it, otherwise empty.
    """

    def __init__(self, offered: Sequence[dict[str, Any]] = (), round: int = 1) -> None:
        self.began, self.tools, self.round = perf_counter(), offered, round
        self.names = {offer["function"]["name"] for offer in offered}
        self.first: float | None = None
        self.received: list[str] = []
        self.text_calls = 0  # tool calls written as text that were examined
        self.usage: Usage | None = None
        self.is_truncated = False
        self.pieces: list[str] = []
        self.wrote = ""

    def note_piece(self, text: str) -> None:
        self.first = self.first or perf_counter()
        self.received.append(text)

    def tokens(self, prompt: Sequence[Line]) -> Usage:
        """Return the usage as the provider counted it, or an estimate if it sent none."""
        if self.usage:
            return self.usage
        return Usage(
            estimate_messages(prompt, self.tools), estimate_answer("".join(self.received)), is_estimated=True
        )


def get_round_offers(turn: TurnContext, round: int) -> list[dict[str, Any]]:
    """Return the tools that the model is offered in the round: none in the last, in which it has to answer."""
    return turn.offers if round < settings.TOOL_ROUNDS else []


@transaction.atomic
def record_call(turn: TurnContext, round: int, now: datetime) -> ModelCall:
    """Lock the reply's companion, and record a request to the model. Raise LostOwnershipError."""
    hold_reply(turn.reply)
    return save_call(turn, round, now)


def save_call(turn: TurnContext, round: int, now: datetime) -> ModelCall:
    """Record a request to the model before it is made: its prompt and a ModelCall. Call it with the reply held."""
    prompt = Prompt(
        reply=turn.reply,
        round=round,
        companion=turn.companion,
        messages=neutralise_messages(turn.prompt),
        tools=get_round_offers(turn, round),
        shown=sorted(turn.shown_ids, key=attrgetter("int")),
        created_at=now,
    )
    asked = ["messages", "tools", "shown", "created_at"]  # what a second request of the round replaces
    Prompt.objects.bulk_create(
        [prompt], update_conflicts=True, unique_fields=["reply", "round"], update_fields=asked
    )
    return ModelCall.objects.create(
        user=turn.companion.user,
        companion=turn.companion,
        reply=turn.reply,
        purpose=ModelCall.Purpose.ANSWER,
        provider=turn.provider.place,
        model=turn.provider.model,
        started_at=now,
    )


async def record_end(
    call: ModelCall,
    meter: Meter,
    prompt: Sequence[Line],
    clock: Clock,
    error: ProviderError | None = None,
    outcome: Outcome = Outcome.DONE,
) -> None:
    """Record the call's outcome and cost, and note a failure of its provider."""
    await in_thread_with_retry(end_call, call, meter, prompt, perf_counter(), error, outcome)
    if error:
        await in_thread_with_retry(note_failure, call.provider, call.model, error, clock(), call.user_id)


def end_call(
    call: ModelCall,
    meter: Meter,
    prompt: Sequence[Line],
    now: float,
    error: ProviderError | None = None,
    outcome: Outcome = Outcome.DONE,
) -> None:
    """Record the call's outcome, usage, duration and error message."""
    if error:
        outcome = Outcome.REFUSED if isinstance(error, ProviderRefused) else Outcome.UNAVAILABLE
    usage = (error.usage or Usage(0, 0)) if error else meter.tokens(prompt)
    with transaction.atomic():
        # The error message of a person's own provider may reveal its address.
        words = storable(error.said) if error and call.provider != OWN else ""
        if words and call.companion_id:
            # The provider may have quoted the prompt: if that was scrubbed meanwhile, do not keep the message either.
            lock(call.companion_id)
            words = words if Prompt.objects.filter(reply=call.reply_id).exists() else ""
        if meter.wrote:
            Prompt.objects.filter(reply=call.reply_id, round=meter.round).update(wrote=meter.wrote)
        ModelCall.objects.filter(pk=call.pk).update(
            outcome=outcome,
            said=words,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            is_estimated=usage.is_estimated,
            first_piece_milliseconds=round((meter.first - meter.began) * 1000) if meter.first else None,
            milliseconds=round((now - meter.began) * 1000),
        )


def end_cut_call(call: ModelCall, meter: Meter, prompt: Sequence[Line], now: float, is_stopped: bool) -> None:
    """Record a call that was cut short: as stopped if `is_stopped` or the reply is stopped, else as interrupted."""
    with transaction.atomic():
        if call.companion_id:
            # Wait for whoever ends the reply: they seal its stream first and commit a moment later.
            lock(call.companion_id)
        is_stopped = is_stopped or Reply.objects.filter(model_calls=call, state=Reply.State.STOPPED).exists()
    end_call(call, meter, prompt, now, outcome=Outcome.STOPPED if is_stopped else Outcome.INTERRUPTED)


def end_lost_calls(reply: Reply) -> None:
    """Record the running calls of a reply whose process died as interrupted, with estimated tokens."""
    prompt = Prompt.objects.filter(reply=reply).order_by("-round").first()
    for call in ModelCall.objects.filter(reply=reply, outcome=Outcome.RUNNING):
        call.outcome, call.is_estimated = Outcome.INTERRUPTED, True
        call.prompt_tokens = estimate_messages(prompt.messages, prompt.tools) if prompt else 0
        call.completion_tokens = estimate_answer(reply.text, reply.thought)
        call.save(update_fields=["outcome", "is_estimated", "prompt_tokens", "completion_tokens"])

"""The measure of one request to the model, and its row's end."""

from collections.abc import Sequence

from django.db import transaction

from accounts.models import ModelCall
from companions.locking import lock
from companions.models import Prompt, Reply
from companions.prompts import Line
from memory.text import storable
from providers.errors import ProviderError, ProviderRefused
from providers.pieces import Usage
from providers.tokens import estimate_answer, estimate_messages

Outcome = ModelCall.Outcome


class Meter:
    """When the first piece came, what was received, and the usage that the provider gave."""

    def __init__(self, began: float, tools: Sequence[Line] = ()) -> None:
        self.began, self.tools = began, tools
        self.first: float | None = None
        self.received: list[str] = []
        self.usage: Usage | None = None

    def piece(self, text: str, now: float) -> None:
        self.first = self.first or now
        self.received.append(text)

    def tokens(self, prompt: Sequence[Line]) -> Usage:
        """What the provider counted, or an estimate where it did not come to that."""
        if self.usage:
            return self.usage
        return Usage(
            estimate_messages(prompt, self.tools), estimate_answer("".join(self.received)), is_estimated=True
        )


def end_call(
    call: ModelCall,
    meter: Meter,
    prompt: Sequence[Line],
    now: float,
    error: ProviderError | None = None,
    outcome: Outcome = Outcome.DONE,
) -> None:
    """Write how the call ended, what it cost and how long it took."""
    if error:
        outcome = Outcome.REFUSED if isinstance(error, ProviderRefused) else Outcome.UNAVAILABLE
    usage = (error.usage or Usage(0, 0)) if error else meter.tokens(prompt)
    _write_end(call, outcome, usage, meter, now, storable(error.said) if error else "")


def cut_call(call: ModelCall, meter: Meter, prompt: Sequence[Line], now: float, is_stopped: bool) -> None:
    """Write of a call that was cut short: `stopped` also where its person had ended the reply before it was noticed."""
    is_stopped = is_stopped or Reply.objects.filter(model_calls=call, state=Reply.State.STOPPED).exists()
    end_call(call, meter, prompt, now, outcome=Outcome.STOPPED if is_stopped else Outcome.INTERRUPTED)


@transaction.atomic
def _write_end(call: ModelCall, outcome: Outcome, usage: Usage, meter: Meter, now: float, words: str) -> None:
    """The provider may have quoted the prompt: where that was scrubbed meanwhile, its words are not kept either."""
    if words and call.companion_id:
        lock(call.companion_id)
        words = words if Prompt.objects.filter(reply=call.reply_id).exists() else ""
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


def end_lost_calls(reply: Reply) -> None:
    """Close the calls of a reply whose process was killed in the middle of one; the tokens are estimated."""
    prompts = {prompt.round: prompt for prompt in Prompt.objects.filter(reply=reply)}
    calls = ModelCall.objects.filter(reply=reply).order_by("started_at", "pk")
    for round, call in enumerate(calls, start=1):
        if call.outcome == Outcome.RUNNING:
            prompt = prompts.get(round)
            call.outcome, call.is_estimated = Outcome.INTERRUPTED, True
            call.prompt_tokens = estimate_messages(prompt.messages, prompt.tools) if prompt else 0
            call.completion_tokens = estimate_answer(reply.text, reply.thought)
            call.save(update_fields=["outcome", "is_estimated", "prompt_tokens", "completion_tokens"])

"""The measure of one request to the model, and its row's end."""

from collections.abc import Sequence

from accounts.models import ModelCall
from companions.prompts import Line
from providers.errors import ProviderError, ProviderRefused
from providers.pieces import Usage
from providers.tokens import estimate, estimate_messages

Outcome = ModelCall.Outcome


class Meter:
    """When the first piece came, what was received, and the usage that the provider gave."""

    def __init__(self, began: float) -> None:
        self.began = began
        self.first: float | None = None
        self.received: list[str] = []
        self.usage: Usage | None = None

    def piece(self, text: str, now: float) -> None:
        self.first = self.first or now
        self.received.append(text)

    def tokens(self, prompt: Sequence[Line]) -> Usage:
        """What the provider counted, or an estimate where it did not come to that."""
        estimated = Usage(estimate_messages(prompt), estimate("".join(self.received)), is_estimated=True)
        return self.usage or estimated


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
    ModelCall.objects.filter(pk=call.pk).update(
        outcome=outcome,
        said=error.said if error else "",
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cached_tokens=usage.cached_tokens,
        is_estimated=usage.is_estimated,
        first_piece_milliseconds=round((meter.first - meter.began) * 1000) if meter.first else None,
        milliseconds=round((now - meter.began) * 1000),
    )

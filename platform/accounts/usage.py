"""What calls beside the answers cost, and whom."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from accounts.models import ModelCall
from providers.errors import MalformedError, ProviderError, ProviderRefused
from providers.tokens import Metered, metered


@dataclass(frozen=True, slots=True)
class Payer:
    """On whose account a call goes, for which companion and, within a turn, for which reply."""

    user_id: int
    companion_id: UUID
    reply_id: UUID | None = None


@dataclass(slots=True)
class Charge:
    """What a block's calls came to: their rows, once it has ended."""

    calls: list[ModelCall] = field(default_factory=list)


@contextmanager
def charged(
    payer: Payer | None, purpose: ModelCall.Purpose, clock: Callable[[], datetime] = timezone.now
) -> Iterator[Charge]:
    """Write a ModelCall for each metered call within the block, also where it fails; without a payer none.

    The charge given knows the rows after the block.
    """
    began_at, charge = clock(), Charge()
    with metered() as calls:
        try:
            yield charge
        finally:
            if payer and calls:
                rows = [_row(payer, purpose, call, began_at) for call in calls]
                charge.calls = ModelCall.objects.bulk_create(rows)


def _row(payer: Payer, purpose: ModelCall.Purpose, call: Metered, began_at: datetime) -> ModelCall:
    return ModelCall(
        user_id=payer.user_id,
        companion_id=payer.companion_id,
        reply_id=payer.reply_id,
        purpose=purpose,
        provider=call.provider,
        model=call.model,
        outcome=_outcome(call.error),
        prompt_tokens=call.prompt_tokens,
        completion_tokens=call.completion_tokens,
        cached_tokens=call.cached_tokens,
        is_estimated=call.is_estimated,
        milliseconds=call.milliseconds,
        started_at=began_at,
    )


def _outcome(error: ProviderError | None) -> ModelCall.Outcome:
    if error is None or isinstance(error, MalformedError):  # that was answered, and is paid for
        return ModelCall.Outcome.DONE
    return ModelCall.Outcome.REFUSED if isinstance(error, ProviderRefused) else ModelCall.Outcome.UNAVAILABLE

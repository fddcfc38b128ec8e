"""Compare two models: the newest exchanges of a talk are answered again by the companion's own model and by another.

The prompts are those sent at the time, without tools. Each answer is saved at once, so that a run that resumes after a
crash asks only for the missing ones. Talk has priority over it; the answers count towards the person's daily tokens.
"""

from datetime import datetime
from functools import partial
from uuid import UUID

import structlog
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.limits.usage import NO_TOKENS_LEFT, admit_work, charged, waits_until
from accounts.models import ModelCall
from companions.answers.cleaner import clean_text
from companions.answers.lines import Names
from companions.errors import ModelChoiceError
from companions.minds.choice import compute_sampling, get_mind
from companions.minds.comparison.report import build_report
from companions.models import Companion, ComparedExchange, Comparison, Prompt, Reply
from companions.tools.registry import TOOLS
from jobs.background import enqueue
from jobs.lease import Clock, Lease, note_failures
from providers.chat.completion import complete
from providers.chat.sampling import Sampling
from providers.selection import find_providers, get_provider, preferring
from text.strings import storable

log = structlog.get_logger(__name__)
USUAL_EXCHANGES, MAX_EXCHANGES = 5, 50
MAX_TRIES = 4
EXCHANGES_A_RUN = 2  # so that no task takes longer than the broker's visibility timeout
COMPARE = "companions.tasks.compare_models"


@transaction.atomic
def start_comparison(companion: Companion, other: str, exchanges: int, now: datetime) -> Comparison:
    """Start comparing the companion's model with another over at most so many exchanges; delete an earlier comparison.

    Raise ModelChoiceError if a model is unavailable, both are the same or there is no prompt to answer; GateError.
    """
    admit_work(companion.user, "comparisons", now)
    companion.lock()
    own = get_mind(companion).model
    with preferring(companion.preference):
        are_there = bool(own and find_providers(model=own) and find_providers(model=other))
    if own == other or not are_there:
        detail = _("Both models have to be available to be compared. Check which ones are.")
        raise ModelChoiceError("no_such_model", detail)
    prompts = _choose_prompts(companion, exchanges)
    if not prompts:
        detail = _(
            "There is nothing for both to answer yet: what is sent to a model is kept for only 30 days."
        )
        raise ModelChoiceError("nothing_to_compare", detail)
    Comparison.objects.filter(companion=companion).delete()
    comparison = Comparison.objects.create(
        companion=companion, own_model=own, other_model=other, created_at=now
    )
    ComparedExchange.objects.bulk_create(
        ComparedExchange(comparison=comparison, prompt=prompt) for prompt in prompts
    )
    enqueue(COMPARE, str(comparison.pk))
    return comparison


def _choose_prompts(companion: Companion, count: int) -> list[Prompt]:
    """Return the first prompt of each of the newest replies, one for each message, oldest first."""
    first = Prompt.objects.filter(
        companion=companion, round=1, reply__state=Reply.State.DONE, reply__answer__isnull=False
    )
    by_message: dict[UUID, Prompt] = {}
    newest = first.select_related("reply").defer("messages", "tools").order_by("-created_at")
    for prompt in newest.iterator(chunk_size=2 * count):  # answers made again are several for one message
        by_message.setdefault(prompt.reply.message_id, prompt)
        if len(by_message) == count:
            break
    return list(by_message.values())[::-1]


def find_due(now: datetime) -> list[UUID]:
    """Return the ids of unfinished comparisons that no worker holds and that are due, for the sweep."""
    waiting = Comparison.objects.filter(ended_at=None)
    return list(waiting.exclude(next_at__gt=now).values_list("pk", flat=True))


def run(comparison_id: UUID, clock: Clock) -> None:
    """Continue the comparison if it is due: answer at most EXCHANGES_A_RUN exchanges, and enqueue a run for the rest.

    If the person's tokens of the day are used up, the next run is tomorrow.
    """
    lease = Lease.take(Comparison.objects.filter(pk=comparison_id, ended_at=None), "next_at", clock)
    if lease is None:
        return
    with note_failures(lease, partial(_note_failure, lease)):
        _go_on(comparison_id, lease)


def _go_on(comparison_id: UUID, lease: Lease) -> None:
    rows = Comparison.objects.select_related("companion__user", "companion__mind")
    comparison = rows.filter(pk=comparison_id).first()
    if comparison is None:
        return
    companion = comparison.companion
    left = comparison.exchanges.unanswered().select_related("prompt")
    for exchange in left[:EXCHANGES_A_RUN]:
        for side, model in (("own", comparison.own_model), ("other", comparison.other_model)):
            if getattr(exchange, f"{side}_text") is not None:
                continue
            if tomorrow := waits_until(companion.user, lease.clock(), is_asked_for=True):
                lease.release(tomorrow, error=NO_TOKENS_LEFT)
                return
            text, emotions = _answer(companion, exchange.prompt, model, lease.clock)
            answered = {f"{side}_text": text, f"{side}_emotions": emotions}
            # If the prompt was deleted meanwhile, so was the exchange, and nothing is saved.
            ComparedExchange.objects.filter(pk=exchange.pk).update(**answered)
            if not lease.renew(error="", attempts=0):
                return
    if left.exists():
        lease.release(None)
        enqueue(COMPARE, str(comparison_id))
    else:
        lease.release(None, ended_at=lease.clock(), report=build_report(comparison))


def _answer(
    companion: Companion, prompt: Prompt, model: str, clock: Clock
) -> tuple[str, list[dict[str, object]]]:
    """Return the model's answer, cleaned as in a talk, and its emotions. Raise ProviderError."""
    with preferring(companion.preference), charged(companion.payer, ModelCall.Purpose.COMPARISON, clock):
        provider, chosen = get_provider(model=model), compute_sampling(get_mind(companion))
        sampling = Sampling.for_talk([companion.user.name], chosen)
        answer = complete(provider, prompt.messages, sampling=sampling)
    text, felt = clean_text(
        storable(answer.text),
        Names(companion.name, companion.user.name, companion.nickname),
        TOOLS,
        keeps_directions=not companion.without_directions,
        is_cut=answer.is_cut,
    )
    return text.strip(), [emotion.row() for emotion in felt]


def _note_failure(lease: Lease, code: str) -> None:
    """Postpone the next attempt; after the last one, end the comparison with the answers that it has, and log it."""
    comparison = lease.held_row.first() if lease.count_failure(code, MAX_TRIES) else None
    if comparison:
        lease.release(None, ended_at=lease.clock())
        log.warning("comparison_failed", comparison=str(comparison.pk), code=code)

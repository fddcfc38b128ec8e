"""The budget of learning from imported pasts: so many tokens a night, and none while it is paused."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F

from accounts.limits.usage import reporting, waits_until
from accounts.models import ModelCall
from companions.memories.consolidation import find_night
from companions.models import PastImport

PAUSED_FOR = timedelta(hours=1)  # until the next check; resuming the learning brings that forward
SESSION_CALLS = 4  # diary, facts, understanding, and a second reading
CALL_TOKENS = 2_500  # for the rules, what is known already, and the answer


def estimate_session(tokens: int) -> int:
    """Return an estimate of the tokens that learning from a session of so many `tokens` takes."""
    return SESSION_CALLS * (tokens + CALL_TOKENS)


def may_begin(past: PastImport, now: datetime) -> bool:
    """Return whether another session may be learnt from: learning is not paused, a night has begun since it was asked
    for, and tokens are left both of the import's for this night and of what the user's background work may spend today.
    """
    night_of, begins_at = find_night(now, past.companion.user.zone)
    if past.learning != PastImport.Learning.RUNNING or not past.asked_at or past.asked_at >= begins_at:
        return False
    is_spent = past.night_of == night_of and past.tokens_tonight >= past.nightly_tokens
    return not is_spent and waits_until(past.companion.user, now) is None


def find_wait(past: PastImport, now: datetime, *, has_begun: bool) -> datetime | None:
    """Return until when learning from a session must wait, or None if the model may be asked now.

    A session that `has_begun` is finished, unless learning is paused.
    """
    past.refresh_from_db(fields=["learning", "nightly_tokens", "night_of", "tokens_tonight"])
    if past.learning != PastImport.Learning.RUNNING:
        return now + PAUSED_FOR
    return None if has_begun or may_begin(past, now) else now + PAUSED_FOR


@contextmanager
def spending(past_id: UUID | None, now: datetime) -> Iterator[None]:
    """Add the tokens of each model call within the block to what the import spent this night; None counts nothing."""

    def report(calls: Sequence[ModelCall]) -> None:
        tokens = sum(call.prompt_tokens + call.completion_tokens for call in calls)
        if past_id and tokens:
            _count(past_id, tokens, now)

    with reporting(report):
        yield


def _count(past_id: UUID, tokens: int, now: datetime) -> None:
    past = PastImport.objects.select_related("companion__user").filter(pk=past_id).first()
    if past is None:
        return
    night_of, _begins_at = find_night(now, past.companion.user.zone)
    row = PastImport.objects.filter(pk=past_id)
    row.exclude(night_of=night_of).update(night_of=night_of, tokens_tonight=0)
    row.update(tokens_spent=F("tokens_spent") + tokens, tokens_tonight=F("tokens_tonight") + tokens)

"""Learning from imported pasts by night: session by session in the order of time, by the same closings as other talk.

What is still to be learnt is found from rows: the sessions of the import without a finished closing of the import's.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, Func, IntegerField, OuterRef, QuerySet, Sum
from django.db.models.functions import Length

from companions.models import Closing, Message, PastImport, Session
from companions.models.companion import lock
from companions.pasts.budget import estimate_session, may_begin
from companions.pasts.plan import Plan
from jobs.background import enqueue
from providers.tokens import estimate_of_size

NIGHTLY_TOKENS = 200_000  # the default
MIN_NIGHTLY, MAX_NIGHTLY = 10_000, 100_000_000
SWEEP = 200
CLOSE_TASK = "companions.sessions.tasks.close_session"


class OctetLength(Func):
    """The length of a text in bytes of UTF-8."""

    function = "octet_length"
    output_field = IntegerField()


@dataclass(frozen=True, slots=True)
class LearningCost:
    """An estimate of what learning from a plan would take."""

    sessions: int
    tokens: int

    def count_nights(self, nightly_tokens: int) -> int:
        return -(-self.tokens // max(1, nightly_tokens))


@dataclass(frozen=True, slots=True)
class LearningProgress:
    """How many of an import's sessions were learnt from, how many failed, and how many there are."""

    done: int
    failed: int
    total: int


@dataclass(frozen=True, slots=True)
class RestCost:
    """An estimate of what learning from an import takes in all, and of the tokens and nights still to come."""

    tokens: int
    tokens_left: int
    nights_left: int


def estimate_cost(plan: Plan) -> LearningCost:
    told = [session for session in plan.sessions if session.has_person]
    return LearningCost(len(told), sum(estimate_session(session.tokens) for session in told))


def count_progress(past: PastImport) -> LearningProgress:
    closings = Closing.objects.filter(past=past)
    done = closings.filter(state=Closing.State.DONE).count()
    failed = closings.filter(state=Closing.State.FAILED).count()
    return LearningProgress(done, failed, done + failed + _select_unfinished(past).count())


def estimate_rest(past: PastImport) -> RestCost:
    """Return what learning from the import takes, estimated by the lengths of its messages without loading the text."""
    said = Message.objects.filter(job=past.job_id, session__in=_select_sessions(past).values("pk"))
    sizes = said.values("session").annotate(letters=Sum(Length("text")), octets=Sum(OctetLength("text")))
    costs = {
        row["session"]: estimate_session(estimate_of_size(row["letters"], row["octets"]))
        for row in sizes.order_by()
    }
    unfinished = set(_select_unfinished(past).values_list("pk", flat=True)) if costs else set()
    tokens, left = sum(costs.values()), sum(cost for pk, cost in costs.items() if pk in unfinished)
    nightly = past.nightly_tokens or NIGHTLY_TOKENS
    return RestCost(tokens, left, LearningCost(len(unfinished), left).count_nights(nightly))


def _select_unfinished(past: PastImport) -> QuerySet[Session]:
    ended = Closing.objects.filter(past=past, session=OuterRef("pk")).exclude(state=Closing.State.WAITING)
    return _select_sessions(past).filter(~Exists(ended))


def _select_sessions(past: PastImport) -> QuerySet[Session]:
    """Return the sessions on the chosen branch that hold a user message of this import."""
    said = Message.objects.filter(session=OuterRef("pk"), job=past.job_id, role=Message.Role.USER)
    return Session.objects.filter(Exists(said), companion=past.companion_id)


def begin_due(now: datetime) -> int:
    """Begin to learn from the next session of each import that may be learnt from now; return how many were begun."""
    running = PastImport.objects.filter(learning=PastImport.Learning.RUNNING, state=PastImport.State.DONE)
    pasts = running.select_related("companion__user").order_by("asked_at")[:SWEEP]
    return sum(_begin_next(past, now) for past in pasts if may_begin(past, now))


@transaction.atomic
def _begin_next(past: PastImport, now: datetime) -> bool:
    """Ask for the closing of the import's next session, and return whether one was asked for.

    If none is left, mark the learning as done.
    """
    still = PastImport.objects.filter(pk=past.pk, learning=PastImport.Learning.RUNNING)
    if not lock(past.companion_id) or not still.exists():
        return False
    if Closing.objects.open().filter(past=past).exists():
        return False
    session = _select_unfinished(past).order_by("started_at", "id").first()
    if session is None:
        still.update(learning=PastImport.Learning.DONE)
        return False
    Message.objects.filter(session=session, job=past.job_id).update(is_learnt=False)
    closing = Closing.objects.create(
        companion_id=past.companion_id,
        session=session,
        past=past,
        until_at=session.ended_at or session.started_at,
        asked_at=now,
        next_at=now,
    )
    enqueue(CLOSE_TASK, str(closing.pk))
    return True


def change_learning(
    past: PastImport, now: datetime, *, is_running: bool | None = None, nightly_tokens: int | None = None
) -> PastImport:
    """Start, resume or pause learning, or set the tokens a night, clamped to the limits; return the reloaded import."""
    row = PastImport.objects.filter(pk=past.pk)
    if nightly_tokens is not None:
        row.update(nightly_tokens=min(max(nightly_tokens, MIN_NIGHTLY), MAX_NIGHTLY))
    if is_running is False:
        row.filter(learning=PastImport.Learning.RUNNING).update(learning=PastImport.Learning.PAUSED)
    elif is_running:
        resting = row.filter(learning__in=[PastImport.Learning.NONE, PastImport.Learning.PAUSED])
        resting.filter(nightly_tokens=0).update(nightly_tokens=NIGHTLY_TOKENS)
        resting.filter(asked_at=None).update(asked_at=now)
        resting.update(learning=PastImport.Learning.RUNNING)
        Closing.objects.open().filter(past=past, next_at__gt=now, drafts__isnull=False).update(next_at=now)
    past.refresh_from_db()
    return past

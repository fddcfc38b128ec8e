"""Learning while a session lasts: of eight turns at once, with one call, which revises the session's summary too."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import structlog
from django.db import connection, transaction

from accounts.models import ModelCall
from accounts.usage import Payer, charged, waits_until
from companions.access import lock
from companions.models import Message, Reply, Session
from companions.sessions.drafts import is_new
from companions.sessions.transcript import fitting, is_being_answered, marks, room, said, talk_of, told
from jobs.background import enqueue
from jobs.lease import MAX_ATTEMPTS, Clock, Lease, Step, note_failures, nothing, retry_at
from memory.learning.answers import Digest
from memory.learning.neighbours import known_to, neighbours
from memory.learning.requests import digest_request
from memory.learning.secrets import redacted, secrets_in
from memory.learning.talk import Talk
from memory.learning.verdicts import learn
from memory.models import Memory
from providers.chat.structured import ask
from providers.errors import ProviderUnavailable

log = structlog.get_logger(__name__)

MESSAGES = 16  # eight turns
BATCH = 200
EVER = datetime.min.replace(tzinfo=UTC)  # before all that was said
# Open sessions with a whole batch that nobody has learnt from, nobody is learning from, and nobody closes.
DUE = """
SELECT session.id FROM companions_session session
 WHERE session.ended_at IS NULL AND coalesce(session.digest_at, %(now)s) <= %(now)s
   AND (SELECT count(*) FROM (SELECT FROM companions_message message WHERE message.session_id = session.id
          AND NOT message.is_learnt AND NOT message.is_hidden AND message.role <> 'system' LIMIT %(messages)s) AS batch)
       >= %(messages)s
   AND NOT EXISTS (SELECT FROM companions_closing closing
                    WHERE closing.session_id = session.id AND closing.state = 'waiting')
   AND (%(only)s::uuid IS NULL OR session.id = %(only)s::uuid)
 LIMIT %(most)s
"""


def due(now: datetime, most: int = BATCH, only: UUID | None = None) -> list[UUID]:
    """The sessions of which a batch is due."""
    named: dict[str, Any] = {"now": now, "most": most, "messages": MESSAGES, "only": only}
    with connection.cursor() as cursor:
        cursor.execute(DUE, named)
        return [id for (id,) in cursor.fetchall()]


def nudge(reply: Reply) -> None:
    """Ask for the learning after the commit, if the ended reply has completed a batch: one query."""
    session_id = reply.message.session_id
    waiting = Message.objects.filter(session=session_id, is_learnt=False, is_hidden=False)
    if reply.answer_id and waiting[:MESSAGES].count() >= MESSAGES:
        enqueue("companions.sessions.tasks.digest_session", str(session_id))


def run(session_id: UUID, now: datetime, step: Step = nothing, clock: Clock | None = None) -> None:
    """Learn from one batch, if it is due. What goes wrong is counted, and it is tried again later.

    `now` is the time of what is written; the lease and waits count from what the clock says then, else from `now`.
    """
    if session_id not in due(now, only=session_id):
        return
    row = Session.objects.filter(pk=session_id, ended_at=None)
    lease = Lease.take(row, "digest_at", clock or (lambda: now))
    session = row.select_related("companion__user", "companion__conversation").first()
    if lease is None or session is None:
        return
    step("claimed")
    with note_failures(partial(_note_failure, session, lease)):
        lease.release(_go_on(session, lease, now, step))


def _go_on(session: Session, lease: Lease, now: datetime, step: Step) -> datetime | None:
    """When there are tokens for it again; None where that is not what it waits for."""
    if len(_waiting(session)[:MESSAGES]) < MESSAGES or is_being_answered(session):
        return None
    if tomorrow := waits_until(session.companion.user, lease.clock()):
        return tomorrow
    if learn_batch(session, now, step):
        lease.held_row.update(digest_attempts=0)
    return None


def learn_batch(
    session: Session, now: datetime, step: Step = nothing, until_at: datetime | None = None
) -> bool:
    """Whether the oldest batch that nobody has learnt from is learnt from now; False where it changed meanwhile.

    What the summary does not tell though it was learnt from, as the summary was deleted with something that it told, is
    shown before it: the oldest of that, as much as fits, and the rest beside the next batch.
    ProviderUnavailable, ProviderRefused, MalformedError.
    """
    companion, batch = session.companion, _batch(session, until_at)
    zone, names, payer = companion.user.zone, companion.names, Payer(companion.user_id, companion.pk)
    talk = talk_of(companion.pk, batch.shown, zone, batch.tokens)
    new = talk_of(companion.pk, batch.messages, zone, batch.tokens) if batch.untold else talk
    users, own = new.texts("user"), new.texts("companion")
    known = neighbours(companion.pk, users, answers=own, now=now, zone=zone, payer=payer, names=names)
    step("gathered")
    with charged(payer, ModelCall.Purpose.LEARNING) as charge:
        request = digest_request(talk, known, session.summary, names, zone=zone)
        digest = ask("digest", request, Digest)
    step("asked")
    return _keep(Learning(session, batch, talk, known, digest, charge.calls[-1].pk), now, step)


@dataclass(frozen=True, slots=True)
class Batch:
    """What is learnt from at once, after what was learnt from before but stands in no summary; each with so much room."""

    untold: list[Message]
    messages: list[Message]
    tokens: int
    summarised_until: datetime

    @property
    def shown(self) -> list[Message]:
        return [*self.untold, *self.messages]


def _batch(session: Session, until_at: datetime | None = None) -> Batch:
    untold = _untold(session, until_at)
    tokens = room(session.summary) // (2 if untold else 1)
    shown, messages = fitting(untold, tokens), fitting(_waiting(session, until_at)[:MESSAGES], tokens)
    is_all = len(shown) == len(untold)
    until = max(messages[-1].said_at, session.summarised_until or EVER) if is_all else shown[-1].said_at
    return Batch(shown, messages, tokens, until)


@dataclass(frozen=True, slots=True)
class Learning:
    """A batch as the model saw it, and what it answered."""

    session: Session
    batch: Batch
    talk: Talk
    known: Sequence[Memory]
    digest: Digest
    call_id: int


@transaction.atomic
def _keep(learning: Learning, now: datetime, step: Step) -> bool:
    """Write what was learnt, if everything that the model saw is still there as it was."""
    companion, batch = learning.session.companion, learning.batch
    lock(companion.pk)
    session = Session.objects.filter(pk=learning.session.pk, ended_at=None).first()
    if session is None or not _is_as_it_was(learning, session):
        return False
    step("writing")
    before = {one.pk for one in batch.untold}
    learn(
        companion.pk,
        learning.talk,
        [one for one in learning.digest.memories if is_new(one, learning.talk, before)],
        learning.known,
        now=now,
        zone=companion.user.zone,
        names=companion.names,
        session_id=session.pk,
        call_id=learning.call_id,
    )
    step("learnt")
    Message.objects.filter(pk__in=[one.pk for one in batch.messages]).update(is_learnt=True)
    session.summary = redacted(learning.digest.summary, secrets_in(one.text for one in batch.shown))
    session.summarised_until = batch.summarised_until
    session.save(update_fields=["summary", "summarised_until"])
    step("written")
    return True


def _is_as_it_was(learning: Learning, session: Session) -> bool:
    shown, known = learning.batch.shown, [one.pk for one in learning.known]
    there = {one.pk: one for one in told(said(session).filter(pk__in=[one.pk for one in shown]))}
    return (
        marks([there[one.pk] for one in shown if one.pk in there]) == marks(shown)
        and session.summary == learning.session.summary
        and known_to(session.companion_id).filter(pk__in=known).count() == len(known)
    )


def _waiting(session: Session, until_at: datetime | None = None) -> list[Message]:
    return list(told(said(session, until_at)).filter(is_learnt=False))


def _untold(session: Session, until_at: datetime | None) -> list[Message]:
    """What was learnt from, but stands in no summary any more."""
    learnt = told(said(session, until_at)).filter(is_learnt=True)
    return list(learnt.filter(said_at__gt=session.summarised_until or EVER))


def _note_failure(session: Session, lease: Lease, code: str) -> None:
    """Count the try; a batch at which the model has failed often is passed over, and the operator is told.

    A model that is not reached is no fault of the batch: then it is tried on, at most every six hours.
    """
    attempts = session.digest_attempts + 1
    if attempts >= MAX_ATTEMPTS and code != ProviderUnavailable.code:
        _pass_over(session)
        lease.release(None, digest_attempts=0)
        log.error("batch_passed_over", session_id=str(session.pk), code=code)
        return
    lease.release(retry_at(attempts, lease.clock()), digest_attempts=attempts)
    if attempts == MAX_ATTEMPTS:
        log.error("nothing_learnt", session_id=str(session.pk), code=code)


@transaction.atomic
def _pass_over(session: Session) -> None:
    """Nothing is learnt from the oldest batch, nor is it summed up: what is behind it comes next. It stays recallable."""
    lock(session.companion_id)
    if not _waiting(session):
        return
    batch = _batch(session).messages
    Message.objects.filter(pk__in=[one.pk for one in batch]).update(is_learnt=True)
    until = max(batch[-1].said_at, session.summarised_until or EVER)
    Session.objects.filter(pk=session.pk).update(summarised_until=until)

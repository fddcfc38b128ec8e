"""Digests: learning from a session before it ends, twelve turns at a time, by a call that also revises its summary."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts.limits.usage import charged, waits_until
from accounts.models import ModelCall
from companions.models import Closing, Message, Session
from companions.models.companion import lock
from companions.models.conversation import DIGEST_MESSAGES
from companions.sessions.drafts import is_new
from companions.sessions.transcript import (
    build_talk,
    find_names,
    fingerprint,
    is_being_answered,
    measure_room,
    select_messages,
    select_visible,
    take_fitting,
)
from jobs.lease import MAX_ATTEMPTS, Clock, Lease, count_attempt, note_failures, retry_at
from memory.learning.answers import Digest
from memory.learning.contradictions import find_contradicted, find_pairs, find_repeated, group_by_place
from memory.learning.neighbours import find_neighbours, select_known
from memory.learning.requests import render_digest_request
from memory.learning.rules.boilerplate import is_boilerplate
from memory.learning.rules.secrets import redacted, secrets_in
from memory.learning.verdicts import learn
from memory.learning.verification import list_facts, make_key, verify
from providers.chat.structured import ask, require_model
from providers.errors import OUTAGES
from providers.selection import preferring

log = structlog.get_logger(__name__)

BATCH = 200
EVER = datetime.min.replace(tzinfo=UTC)  # before every message


def select_due(now: datetime) -> QuerySet[Session]:
    """Return the open sessions that have a whole unlearnt batch, are not leased by a worker and not being closed."""
    unlearnt = Message.objects.filter(session=OuterRef("pk"), is_learnt=False, is_hidden=False).order_by()
    last_of_batch = unlearnt.exclude(role=Message.Role.SYSTEM)[DIGEST_MESSAGES - 1 : DIGEST_MESSAGES]
    closings = Closing.objects.open().filter(session=OuterRef("pk"))
    is_free = Q(digest_at=None) | Q(digest_at__lte=now)
    return Session.objects.filter(is_free, Exists(last_of_batch), ~Exists(closings), ended_at=None)


def find_due(now: datetime) -> list[UUID]:
    """Return the ids of sessions with a batch that is due."""
    return list(select_due(now).order_by().values_list("pk", flat=True)[:BATCH])


def run(session_id: UUID, clock: Clock) -> None:
    """Learn from one batch of the session, if one is due. A failure is counted, and the batch is retried later."""
    now = clock()
    if not select_due(now).filter(pk=session_id).exists():
        return
    row = Session.objects.filter(pk=session_id, ended_at=None)
    lease = Lease.take(row, "digest_at", clock)
    session = row.select_related("companion__user", "companion__conversation", "companion__mind").first()
    if lease is None or session is None:
        return
    with note_failures(lease, partial(_note_failure, session, lease)):
        tomorrow = None
        is_whole = len(_load_unlearnt(session)) >= DIGEST_MESSAGES
        if is_whole and not is_being_answered(session):
            tomorrow = waits_until(session.companion.user, lease.clock())
            with preferring(session.companion.preference):
                if tomorrow is None and learn_batch(session, lease, now):
                    lease.held_row.update(digest_attempts=0)
        lease.release(tomorrow)


@dataclass(frozen=True, slots=True)
class Batch:
    """The `messages` to learn from at once, and the `untold` ones: learnt already, but missing from the summary.

    Each of the two has room for `tokens`. `summarised_until` is where the new summary will reach.
    """

    untold: list[Message]
    messages: list[Message]
    tokens: int
    summarised_until: datetime

    @property
    def shown(self) -> list[Message]:
        return [*self.untold, *self.messages]


def learn_batch(session: Session, lease: Lease, now: datetime, until_at: datetime | None = None) -> bool:
    """Learn from the session's oldest unlearnt batch; return False if something that the model saw changed meanwhile,
    or if the lease is lost, which is renewed between the calls.

    If the summary was deleted, with something that it told, messages learnt before are shown again, ahead of the batch:
    the oldest that fit, and the rest with the next batch. The facts learnt are verified, together with known ones that
    they may contradict or repeat. Raise ProviderUnavailable, ProviderRefused, MalformedError.
    """
    require_model()  # or the texts would be embedded each time in vain
    companion, batch = session.companion, _load_batch(session, until_at)
    zone, names, payer = companion.user.zone, find_names(companion), companion.payer
    talk = build_talk(companion.pk, batch.shown, zone, batch.tokens, names)
    new = build_talk(companion.pk, batch.messages, zone, batch.tokens, names) if batch.untold else talk
    users, own = new.texts("user"), new.texts("companion")
    known = find_neighbours(companion.pk, users, answers=own, now=now, zone=zone, payer=payer, names=names)
    with charged(payer, ModelCall.Purpose.LEARNING) as calls:
        request = render_digest_request(talk, known, session.summary, names, zone=zone)
        digest = ask("digest", request, Digest)
        if not lease.renew():
            return False
        before = {message.pk for message in batch.untold}
        only = {place for place, entry in enumerate(digest.memories) if is_new(entry, talk, before)}
        pairs = find_pairs(
            companion.pk,
            digest.memories,
            talk,
            known,
            now=now,
            zone=zone,
            names=names,
            payer=payer,
        )
        drafted = list_facts(digest.memories, talk, names, known, only=only)
        words = verify([*drafted, *(pair.drafted for pair in pairs)], talk, names)
    read = {place: words[key] for place in only if (key := make_key("fact", place)) in words}
    contradicted, repeated = find_contradicted(pairs, words), find_repeated(pairs, words)
    call_id = calls[0].pk
    with transaction.atomic():
        companion.lock()
        ids = {memory.pk for memory in known} | {pair.memory.pk for pair in pairs}
        still_known = select_known(companion.pk).filter(pk__in=ids)
        if not _is_unchanged(session, batch) or still_known.count() < len(ids):
            return False
        learn(
            companion.pk,
            talk,
            digest.memories,
            known,
            now=now,
            zone=zone,
            names=names,
            session_id=session.pk,
            call_id=call_id,
            contradicted=group_by_place([(pair.place, pair.memory) for pair in contradicted]),
            repeated=group_by_place([(pair.place, pair.memory) for pair in repeated]),
            read=read,
            unreadable=digest.unreadable,
            only=only,
        )
        Message.objects.filter(pk__in=[message.pk for message in batch.messages]).update(is_learnt=True)
        # Without a summary of this batch, the next one is summed up with it.
        if not is_boilerplate(digest.summary, request[0]["content"]):
            secrets = secrets_in(message.text for message in batch.shown)
            Session.objects.filter(pk=session.pk).update(
                summary=redacted(digest.summary, secrets), summarised_until=batch.summarised_until
            )
    return True


def _load_batch(session: Session, until_at: datetime | None = None) -> Batch:
    since = session.summarised_until or EVER
    learnt = select_visible(select_messages(session, until_at)).filter(is_learnt=True)
    untold = list(learnt.filter(said_at__gt=since))
    tokens = measure_room(session.summary) // (2 if untold else 1)
    shown, messages = take_fitting(untold, tokens), take_fitting(_load_unlearnt(session, until_at), tokens)
    messages = end_on_answer(messages)
    until = max(messages[-1].said_at, since) if len(shown) == len(untold) else shown[-1].said_at
    return Batch(shown, messages, tokens, until)


def end_on_answer(messages: list[Message]) -> list[Message]:
    """Return the messages up to the companion's last one, or all of them if it has said nothing.

    The user's next line may take back their last one.
    """
    answers = [place for place, message in enumerate(messages) if message.role == Message.Role.ASSISTANT]
    return messages[: answers[-1] + 1] if answers else messages


def _load_unlearnt(session: Session, until_at: datetime | None = None) -> list[Message]:
    """Return the oldest visible messages not learnt from yet, at most one batch."""
    unlearnt = select_visible(select_messages(session, until_at)).filter(is_learnt=False)
    return list(unlearnt[:DIGEST_MESSAGES])


def _is_unchanged(session: Session, batch: Batch) -> bool:
    """Return whether the session's end and summary, and the messages that the model saw, are as they were."""
    shown = batch.shown
    visible = select_visible(select_messages(session)).filter(pk__in=[message.pk for message in shown])
    there = visible.in_bulk()
    now_there = [there[message.pk] for message in shown if message.pk in there]
    return (
        fingerprint(now_there) == fingerprint(shown)
        and Session.objects.filter(pk=session.pk, ended_at=session.ended_at, summary=session.summary).exists()
    )


def _note_failure(session: Session, lease: Lease, code: str) -> None:
    """Count the failure, and schedule a retry; after MAX_ATTEMPTS, skip the batch and log an error.

    If no model is to be had, that is not the batch's fault: then it is not skipped but retried.
    """
    attempts = count_attempt(session.digest_attempts, is_outage=code in OUTAGES)
    if attempts >= MAX_ATTEMPTS:
        _pass_over(session)
        lease.release(None, digest_attempts=0)
        log.error("batch_passed_over", session_id=str(session.pk), code=code)
        return
    lease.release(retry_at(attempts, lease.clock()), digest_attempts=attempts)


@transaction.atomic
def _pass_over(session: Session) -> None:
    """Skip the oldest batch: mark it as learnt, without facts or summary. Its messages can still be recalled."""
    lock(session.companion_id)
    if not _load_unlearnt(session):
        return
    batch = _load_batch(session).messages
    Message.objects.filter(pk__in=[message.pk for message in batch]).update(is_learnt=True)
    until = max(batch[-1].said_at, session.summarised_until or EVER)
    Session.objects.filter(pk=session.pk).update(summarised_until=until)

"""Reflecting: after twelve turns a companion's inner state is written anew, apart from the talk. It says nothing.

So it is where deletion has taken the words of the inner state.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any
from uuid import UUID

import regex
import structlog
from django.db import connection, transaction

from accounts.models import ModelCall
from accounts.usage import Payer, charged, waits_until
from companions.life.inner_state import Feeling, get_feeling_now, get_newest, revise
from companions.models import Companion, InnerState, Life, Message, Session
from companions.models.companion import lock
from companions.models.conversation import REFLECTION_MESSAGES
from companions.sessions.transcript import (
    build_talk,
    measure_room,
    select_messages,
    select_visible,
    take_fitting,
)
from jobs.lease import MAX_ATTEMPTS, RETRY_DELAY, Clock, Lease, note_failures, retry_at
from memory.learning.answers import Reflection
from memory.learning.grounding import names_in, stands_on
from memory.learning.requests import render_reflection_request
from memory.learning.secrets import redacted
from memory.learning.talk import Talk
from providers.chat.structured import ask
from providers.errors import MalformedError
from providers.preference import preferring
from providers.tokens import beginning
from text.strings import cut_sentences

log = structlog.get_logger(__name__)

FOUND_AT_ONCE = 200
MAX_TRIES = 3  # in one run: whoever deletes meanwhile need not be outrun
MAX_MESSAGES = 40
MAX_SENTENCES = 60  # that are looked at; each is compared with all that was shown
PERSONA_SHARE, INNER_SHARE = 4, 8  # a quarter and an eighth of the room for what was said
MAX_NAMES_SHARE = 0.2  # of all words: where more begin with a capital, nouns do
WORD = regex.compile(r"\p{L}+")
ELLIPSIS = "\ue000"  # no sign of any script
# Companions in whose open session enough was said, and may be shown, since they last reflected, and which nobody closes:
# the closing writes the inner state anew as well. Whose inner state lost its words reflects upon the newest session, be
# it over, and upon however little was said in it.
DUE = """
WITH looked_at AS (
  SELECT session.id, session.companion_id, newest.until_at, coalesce(newest.by = 'deletion', false) AS lost_its_words
    FROM companions_session session
    LEFT JOIN LATERAL (SELECT until_at, state.by FROM companions_innerstate state
                        WHERE state.companion_id = session.companion_id ORDER BY number DESC LIMIT 1) newest ON true
   WHERE session.ended_at IS NULL AND NOT session.is_asleep
     AND (%(only)s::uuid IS NULL OR session.companion_id = %(only)s::uuid)
  UNION
  SELECT session.id, state.companion_id, state.until_at, true
    FROM companions_innerstate state
    JOIN LATERAL (SELECT id, ended_at FROM companions_session
                   WHERE companion_id = state.companion_id AND waking_id IS NULL AND NOT is_asleep
                   ORDER BY ended_at IS NULL DESC, started_at DESC LIMIT 1) session ON session.ended_at IS NOT NULL
   WHERE state.by = 'deletion' AND (%(only)s::uuid IS NULL OR state.companion_id = %(only)s::uuid)
     AND NOT EXISTS (SELECT FROM companions_innerstate later
                      WHERE later.companion_id = state.companion_id AND later.number > state.number)
)
SELECT session.companion_id
  FROM looked_at session JOIN companions_life life ON life.companion_id = session.companion_id
 WHERE coalesce(life.reflect_at, %(now)s) <= %(now)s
   AND (SELECT count(*) FROM (
          SELECT FROM companions_message message
           WHERE message.session_id = session.id AND NOT message.is_hidden AND NOT message.is_asleep
             AND message.role <> 'system'
             AND message.said_at > coalesce(session.until_at, '-infinity')
             AND NOT EXISTS (SELECT FROM memory_memory mirror
                              WHERE mirror.message_id = message.id AND mirror.closed_at IS NOT NULL)
           LIMIT %(messages)s) AS enough) >= CASE WHEN session.lost_its_words THEN 1 ELSE %(messages)s END
   AND NOT EXISTS (SELECT FROM companions_closing closing
                    WHERE closing.session_id = session.id AND closing.state = 'waiting')
 LIMIT %(limit)s
"""


def find_due_companions(now: datetime, limit: int = FOUND_AT_ONCE, only: UUID | None = None) -> list[UUID]:
    """Return the companions that are to reflect now."""
    named: dict[str, Any] = {"now": now, "limit": limit, "messages": REFLECTION_MESSAGES, "only": only}
    with connection.cursor() as cursor:
        cursor.execute(DUE, named)
        return [id for (id,) in cursor.fetchall()]


def run(companion_id: UUID, now: datetime, clock: Clock | None = None) -> None:
    """Reflect, if it is due. What goes wrong is counted, and it is tried again later; the inner state stays until then.

    `now` is the time of what is written; the lease and waits count from what the clock says then, else from `now`.
    """
    if companion_id not in find_due_companions(now, only=companion_id):
        return
    lease = Lease.take(Life.objects.filter(companion=companion_id), "reflect_at", clock or (lambda: now))
    if lease is None:
        return
    with note_failures(lease, partial(_note_failure, companion_id, lease)):
        lease.release(_reflect(companion_id, lease, now))


def _reflect(companion_id: UUID, lease: Lease, now: datetime) -> datetime | None:
    """Return when to go on: there are no tokens today, or people kept changing what was said; None when done."""
    for _try in range(MAX_TRIES):
        material = gather(companion_id)
        if material is None or not lease.renew():
            return None
        if tomorrow := waits_until(material.companion.user, lease.clock()):
            return tomorrow
        with preferring(material.companion.preference):
            draft = write_draft(material, now)
        if _keep(material, draft, now):
            lease.held_row.update(reflect_attempts=0)
            return None
    return lease.clock() + RETRY_DELAY


def _note_failure(companion_id: UUID, lease: Lease, code: str) -> None:
    """Count the try; the operator is told once, and it is tried on, at most every six hours."""
    attempts = 1 + (lease.held_row.values_list("reflect_attempts", flat=True).first() or 0)
    lease.release(retry_at(attempts, lease.clock()), reflect_attempts=attempts)
    if attempts == MAX_ATTEMPTS:
        log.error("not_reflected", companion_id=str(companion_id), code=code)


@dataclass(frozen=True, slots=True)
class Material:
    """What a companion reflects upon, and the inner state from which it goes on; oldest message first."""

    companion: Companion
    session: Session
    before: InnerState | None
    messages: list[Message]


def gather(companion_id: UUID) -> Material | None:
    """Return what there is to reflect upon; None where it is not enough."""
    before = get_newest(companion_id)
    has_lost_words = before is not None and before.by == InnerState.By.DELETION
    sessions = Session.objects.filter(companion=companion_id, waking=None).select_related("companion__user")
    session = sessions.filter(ended_at=None).first()
    if session is None and has_lost_words:
        session = sessions.order_by("-started_at").first()
    if session is None:
        return None
    messages = select_visible(select_messages(session))
    if before and before.until_at:
        messages = messages.filter(said_at__gt=before.until_at)
    material = Material(session.companion, session, before, list(messages))
    return material if len(material.messages) >= (1 if has_lost_words else REFLECTION_MESSAGES) else None


@dataclass(frozen=True, slots=True)
class Draft:
    """A new inner state, as yet kept nowhere: its text and feeling, the messages that were shown, and the call."""

    text: str
    feeling: Feeling
    shown: list[Message]
    call_id: int


def write_draft(material: Material, now: datetime) -> Draft:
    """Ask the model. ProviderUnavailable, ProviderRefused; MalformedError, also where nothing of its answer stands."""
    companion, before = material.companion, material.before
    persona = beginning(companion.expand(companion.persona), measure_room() // PERSONA_SHARE)
    inner = shorten_state(before) if before else ""
    tokens = measure_room(persona, inner)
    shown = take_fitting(material.messages[: -MAX_MESSAGES - 1 : -1], tokens)[::-1]
    talk = build_talk(companion.pk, shown, companion.user.zone, tokens)
    feeling = get_feeling_now(before, now)
    request = render_reflection_request(talk, persona, inner, feeling.text, companion.names)
    with charged(Payer(companion.user_id, companion.pk), ModelCall.Purpose.REFLECTION) as charge:
        answer = ask("reflection", request, Reflection)
    text = keep_grounded(answer.text, talk, f"{inner}\n{persona}", companion.names.values())
    if not text:
        raise MalformedError("No sentence of the inner state stands on what was shown")
    return Draft(text, read_feeling(answer), shown, charge.calls[-1].pk)


def shorten_state(state: InnerState) -> str:
    """Return as much of its text as a request has room for."""
    return beginning(state.text, measure_room() // INNER_SHARE)


def read_feeling(answer: Reflection) -> Feeling:
    """Return the feeling that the answer tells."""
    return Feeling(answer.valence, answer.arousal, answer.emotion, answer.intensity)


def keep_grounded(text: str, talk: Talk, kept: str, names: Collection[str]) -> str:
    """Return the text without sentences that name what was not shown, and with "…" in place of secrets; maybe empty.

    Each name, number and day stands in the talk, in what is `kept` of before, or is what one of the two is called.
    Where all nouns have capitals, as in German, these tell nothing of names.
    """
    shown = " \n".join([kept, *(line.text for line in talk.lines)])
    has_capital_nouns = len(names_in(shown)) > MAX_NAMES_SHARE * len(set(WORD.findall(shown)))
    redacted_text = redacted(text, talk.secrets).replace("…", ELLIPSIS)  # it stands within a sentence here
    sentences = (part.replace(ELLIPSIS, "…") for part in cut_sentences(redacted_text))
    return "".join(
        sentence
        for sentence in islice(filter(str.strip, sentences), MAX_SENTENCES)
        if stands_on(sentence.lower() if has_capital_nouns else sentence, talk.lines, kept, names)
    ).strip()


@transaction.atomic
def _keep(material: Material, draft: Draft, now: datetime) -> bool:
    """Return whether it is kept: what was shown is there as it was, and nothing else has changed the inner state."""
    lock(material.companion.pk)
    session = Session.objects.filter(pk=material.session.pk, ended_at=material.session.ended_at).first()
    if session is None or get_newest(material.companion.pk) != material.before:
        return False
    ids = [message.pk for message in draft.shown]
    there = select_visible(select_messages(session).filter(pk__in=ids)).values_list("pk", "text")
    if list(there) != [(message.pk, message.text) for message in draft.shown]:
        return False
    revise(
        material.companion.pk,
        draft.text,
        draft.feeling,
        by=InnerState.By.REFLECTION,
        now=now,
        seen=ids,
        until_at=material.messages[-1].said_at,
        call_id=draft.call_id,
    )
    return True

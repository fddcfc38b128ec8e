"""Reflection: after every twelve turns a model revises a companion's inner state, in the background and unseen.

It also does so after a deletion has taken words from the inner state.
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
from django.db import transaction

from accounts.limits.usage import charged, waits_until
from accounts.models import ModelCall
from companions.life.inner_state import Feeling, get_feeling_now, get_newest, revise
from companions.models import Companion, InnerState, Life, Message, Session
from companions.models.companion import lock
from companions.models.conversation import REFLECTION_MESSAGES
from companions.sessions.transcript import (
    build_talk,
    find_names,
    measure_room,
    select_messages,
    select_visible,
    take_fitting,
)
from database.queries import fetch_ids
from jobs.lease import MAX_ATTEMPTS, RETRY_DELAY, Clock, Lease, note_failures, retry_at
from memory.learning.answers import Reflection
from memory.learning.requests import render_reflection_request
from memory.learning.rules.boilerplate import is_boilerplate
from memory.learning.rules.evidence import is_parroted
from memory.learning.rules.grounding import is_grounded, names_in
from memory.learning.rules.secrets import redacted
from memory.learning.talk import Talk
from providers.chat.structured import ask
from providers.errors import MalformedError
from providers.selection import preferring
from providers.tokens import beginning
from text.strings import cut_sentences

log = structlog.get_logger(__name__)

FOUND_AT_ONCE = 200
MAX_TRIES = 3  # drafts in one run, if messages are changed or deleted meanwhile
MAX_MESSAGES = 40
MAX_SENTENCES = 60  # of an answer: each is compared with everything that was shown
PERSONA_SHARE, INNER_SHARE = 4, 8  # 1/4 and 1/8 of the prompt's room for messages
MAX_NAMES_SHARE = 0.2  # if a larger share of words has a capital, the language writes all nouns so
WORD = regex.compile(r"\p{L}+")
ELLIPSIS = "\ue000"  # a private-use character
# Companions whose open session has enough visible messages since they last reflected and is not being closed, as
# closing a session also revises the inner state. A companion whose inner state lost words by a deletion reflects on its
# newest session, even if that is over, and even on a single message.
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


def find_due_companions(now: datetime, only: UUID | None = None) -> list[UUID]:
    """Return the ids of FOUND_AT_ONCE companions at most whose reflection is due; with `only`, of that one, if it is."""
    named: dict[str, Any] = {
        "now": now,
        "limit": FOUND_AT_ONCE,
        "messages": REFLECTION_MESSAGES,
        "only": only,
    }
    return fetch_ids(DUE, named)


def run(companion_id: UUID, clock: Clock) -> None:
    """Let the companion reflect if that is due. After a failure the inner state stays, and it is tried again later."""
    now = clock()
    if companion_id not in find_due_companions(now, only=companion_id):
        return
    lease = Lease.take(Life.objects.filter(companion=companion_id), "reflect_at", clock)
    if lease is None:
        return
    with note_failures(lease, partial(_note_failure, companion_id, lease)):
        lease.release(_reflect(companion_id, lease, now))


def _reflect(companion_id: UUID, lease: Lease, now: datetime) -> datetime | None:
    """Draft and save a reflection; return None when done, if there is nothing to reflect on, or if the lease is lost.

    Return when to try again if the day's tokens are used up, or if the messages kept changing meanwhile.
    """
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
    """Count the failure and postpone the next attempt by at most six hours; log one error after MAX_ATTEMPTS."""
    attempts = 1 + (lease.held_row.values_list("reflect_attempts", flat=True).first() or 0)
    lease.release(retry_at(attempts, lease.clock()), reflect_attempts=attempts)
    if attempts == MAX_ATTEMPTS:
        log.error("not_reflected", companion_id=str(companion_id), code=code)


@dataclass(frozen=True, slots=True)
class Material:
    """What a companion reflects on: its newest inner state (`before`), and the session's messages that this does not
    consider yet, oldest first.
    """

    companion: Companion
    session: Session
    before: InnerState | None
    messages: list[Message]


def gather(companion_id: UUID) -> Material | None:
    """Return the material for a reflection, or None if there is no session or too few messages."""
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
    """A new inner state, not saved yet: its text and feeling, the messages shown to the model, and the model call."""

    text: str
    feeling: Feeling
    shown: list[Message]
    call_id: int


def write_draft(material: Material, now: datetime) -> Draft:
    """Ask the model for a new inner state. Raise ProviderUnavailable, ProviderRefused, or MalformedError.

    The latter is also raised if no sentence of the answer is grounded in what was shown.
    """
    companion, before = material.companion, material.before
    persona = beginning(companion.expand(companion.persona), measure_room() // PERSONA_SHARE)
    inner = shorten_state(before) if before else ""
    tokens = measure_room(persona, inner)
    shown = take_fitting(material.messages[: -MAX_MESSAGES - 1 : -1], tokens)[::-1]
    names = find_names(companion)
    talk = build_talk(companion.pk, shown, companion.user.zone, tokens, names)
    feeling = get_feeling_now(before, now)
    request = render_reflection_request(talk, persona, inner, feeling.text, names)
    with charged(companion.payer, ModelCall.Purpose.REFLECTION) as calls:
        answer = ask("reflection", request, Reflection)
    kept, rules = f"{inner}\n{persona}", request[0]["content"]
    text = keep_grounded(answer.text, talk, kept, names.values(), rules)
    if not text:
        raise MalformedError("No sentence of the inner state stands on what was shown")
    return Draft(text, read_feeling(answer), shown, calls[-1].pk)


def shorten_state(state: InnerState) -> str:
    """Return the beginning of the state's text, as much as a request has room for; of the first state only the last
    line, as the others repeat persona and greeting.
    """
    text = state.text.rpartition("\n")[2] if state.by == InnerState.By.SEED else state.text
    return beginning(text, measure_room() // INNER_SHARE)


def read_feeling(answer: Reflection) -> Feeling:
    """Return the feeling that the model's answer states."""
    return Feeling(answer.valence, answer.arousal, answer.emotion, answer.intensity)


def keep_grounded(
    text: str, talk: Talk, kept: str, names: Collection[str], rules: str = "", *, is_own: bool = True
) -> str:
    """Return the grounded ones of the first MAX_SENTENCES sentences, with "…" instead of secrets. It may be empty.
    Refusals, sentences that only copy the `rules` of the request, and repetitions are left out, and so are the person's
    words where the text speaks of the companion (`is_own`): "I" would be another one.

    A sentence is grounded if each name, number and day in it occurs in the talk, in the text `kept` from before, or
    among the `names` of the two. In languages that capitalise all nouns, as German does, capitals do not mark names.
    """
    shown = " \n".join([kept, *(line.text for line in talk.lines)])
    has_capital_nouns = len(names_in(shown)) > MAX_NAMES_SHARE * len(set(WORD.findall(shown)))
    redacted_text = redacted(text, talk.secrets).replace("…", ELLIPSIS)  # or it would end a sentence
    parts: dict[str, str] = {}
    for part in cut_sentences(redacted_text):
        parts.setdefault(part.strip(), part)  # small models say the same again and again
    sentences = (part.replace(ELLIPSIS, "…") for part in parts.values())
    return "".join(
        sentence
        for sentence in islice(filter(str.strip, sentences), MAX_SENTENCES)
        if not is_boilerplate(sentence, rules)
        and not (is_own and is_parroted(sentence, talk))
        and is_grounded(sentence.lower() if has_capital_nouns else sentence, talk.lines, kept, names)
    ).strip()


@transaction.atomic
def _keep(material: Material, draft: Draft, now: datetime) -> bool:
    """Save the draft; return False if the messages shown or the inner state have changed since they were read."""
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

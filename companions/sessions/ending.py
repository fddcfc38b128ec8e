"""The last transaction of a closing: all that stays is written, and what was said since begins the next session."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from uuid import UUID

from django.db import transaction

from companions.life.inner_state import revise
from companions.life.reflection import read_feeling
from companions.locks import hold
from companions.models import Closing, InnerState, Message
from companions.sessions.drafting import Draft, Material, gather, mark
from companions.sessions.following import end_session
from companions.sessions.forgetting import forget
from companions.sessions.stretch import talk_of
from jobs.lease import Step, nothing
from memory.learning.answers import Learnt, Reflection
from memory.learning.diary import ClosedSession, keep_session
from memory.learning.neighbours import known_to
from memory.learning.verdicts import learn
from memory.models import Memory


@transaction.atomic
def end(closing_id: UUID, now: datetime, step: Step = nothing) -> bool:
    """Whether the closing is done, or there is nothing left to close; False where it must be drafted (anew)."""
    closing = _held(closing_id)
    if closing is None:
        return True
    material = gather(closing)
    if closing.is_forgetful:
        forget(closing, now)
    elif not material.is_worth_telling:
        end_session(closing, now)
    else:
        return _write(closing, material, now, step)
    return True


@transaction.atomic
def keep_draft(closing_id: UUID, draft: Draft, material: Material) -> None:
    """Keep what the model has made of a session, if that still holds the same: nothing deleted comes back so."""
    closing = _held(closing_id)
    if closing and gather(closing).seen == material.seen and _known(closing, draft) is not None:
        closing.drafts, closing.seen = asdict(draft), material.seen
        closing.save(update_fields=["drafts", "seen"])


def _held(closing_id: UUID) -> Closing | None:
    """The closing as it waits, with its companion locked; None where it is done or gone."""
    companion_id = Closing.objects.filter(pk=closing_id).values_list("companion_id", flat=True).first()
    companion = hold(companion_id) if companion_id else None
    closing = Closing.objects.open().filter(pk=closing_id).select_related("session").first()
    if closing and companion:
        closing.companion = companion
    return closing if companion else None


def _write(closing: Closing, material: Material, now: datetime, step: Step) -> bool:
    """Whether there was a draft that still fits."""
    draft = Draft.of(closing)
    known = _known(closing, draft) if draft and closing.seen == material.seen else None
    if draft is None or known is None:
        Closing.objects.filter(pk=closing.pk).update(drafts={}, seen=[])
        return False
    step("writing")
    _learn(closing, material, draft, known, now)
    step("learnt")
    _keep(closing, material, draft, now)
    step("kept")
    closing.session.title = draft.title
    end_session(closing, now)
    step("written")
    return True


def _known(closing: Closing, draft: Draft) -> list[Memory] | None:
    """What the model was shown beside the talk, by its numbers; None where some of it may not be shown any more."""
    ids = [one.split()[0] for one in draft.known]
    there = {mark(one): one for one in known_to(closing.companion_id).filter(pk__in=ids)}
    known = [there[one] for one in draft.known if one in there]
    return known if len(known) == len(draft.known) else None


def _learn(
    closing: Closing, material: Material, draft: Draft, known: Sequence[Memory], now: datetime
) -> None:
    companion, by_id = closing.companion, {str(one.pk): one for one in material.messages}
    zone = companion.user.zone
    learn(
        companion.pk,
        talk_of(companion.pk, [by_id[id] for id in draft.lines], zone, material.room),
        [Learnt.model_validate(one) for one in draft.memories],
        known,
        now=now,
        zone=zone,
        names=companion.names,
        session_id=closing.session_id,
        call_id=draft.call_id,
    )
    Message.objects.filter(pk__in=by_id).update(is_learnt=True)


def _keep(closing: Closing, material: Material, draft: Draft, now: datetime) -> None:
    ended = ClosedSession(
        session_id=closing.session_id,
        started_at=material.messages[0].said_at,
        ended_at=material.messages[-1].said_at,
        written=draft,
    )
    keep_session(closing.companion_id, ended, now, closing.companion.user.zone)
    if draft.inner_state:
        _feel(material, Reflection.model_validate(draft.inner_state), draft.call_id, now)


def _feel(material: Material, felt: Reflection, call_id: int | None, now: datetime) -> None:
    revise(
        material.companion.pk,
        felt.text,
        read_feeling(felt),
        by=InnerState.By.CLOSING,
        now=now,
        seen=[one.pk for one in material.messages],
        until_at=material.messages[-1].said_at,
        call_id=call_id,
    )

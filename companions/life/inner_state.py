"""How a companion feels and sees the present: texts of its own in revisions, the highest of which holds.

Chat reads it. Reflections, wakings and the ends of sessions write it; whoever does holds the companion meanwhile.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import transaction

from companions.life import seeding
from companions.life.mood import Feeling, felt_now
from companions.locking import lock
from companions.models import Companion, InnerState, Waking
from companions.models.inner_state import INNER_STATE_CHARACTERS
from memory.text import shortened, storable

SEEDED_AT_ONCE = 200
BY_A_MODEL = {InnerState.By.REFLECTION, InnerState.By.CLOSING, InnerState.By.WAKING}


def newest(companion_id: UUID) -> InnerState | None:
    """The one that holds; None where the companion has none (yet)."""
    return InnerState.objects.filter(companion=companion_id).order_by("-number").first()


def feeling_of(state: InnerState) -> Feeling:
    """What was felt as it was made."""
    return Feeling.clamped(state.valence, state.arousal, state.emotion, state.intensity)


def feeling_now(state: InnerState | None, now: datetime) -> Feeling:
    """What is left of that by now; calm where there is no inner state."""
    return felt_now(feeling_of(state), state.made_at, now) if state else Feeling()


@transaction.atomic
def revise(
    companion_id: UUID,
    text: str,
    feeling: Feeling,
    *,
    by: InnerState.By,
    now: datetime,
    seen: Iterable[UUID] = (),
    until_at: datetime | None = None,
    waking: Waking | None = None,
    call_id: int | None = None,
) -> InnerState:
    """The inner state that holds from now on; the one before where the same waking says the very same again.

    Whoever looked at nothing that was said leaves it to the next reflection: its `until_at` is that of the one before.
    ValueError for an empty text; Companion.DoesNotExist.
    """
    text = shortened(storable(text).strip(), INNER_STATE_CHARACTERS)
    if not text:
        raise ValueError("An inner state needs words.")
    if not lock(companion_id):
        raise Companion.DoesNotExist
    before = newest(companion_id)
    if before and waking and before.waking_id == waking.pk and _says(before) == (text, feeling):
        return before
    return InnerState.objects.create(
        companion_id=companion_id,
        number=before.number + 1 if before else 1,
        text=text,
        valence=feeling.valence,
        arousal=feeling.arousal,
        emotion=feeling.emotion,
        intensity=feeling.intensity,
        by=by,
        seen=sorted(set(seen)),
        is_rehearsed=by in BY_A_MODEL and settings.CHAT["is_rehearsal"],
        until_at=until_at or (before.until_at if before else None),
        waking=waking,
        call_id=call_id,
        made_at=now,
    )


def _says(state: InnerState) -> tuple[str, Feeling]:
    return state.text, feeling_of(state)


@transaction.atomic
def seed(companion: Companion, now: datetime) -> InnerState:
    """The first inner state, drawn from the persona; the one that holds where there is one."""
    if not lock(companion.pk):
        raise Companion.DoesNotExist
    before = newest(companion.pk)
    if before:
        return before
    language = seeding.language(companion)
    text, feeling = seeding.beginning(companion.name, companion.persona, companion.greeting, language)
    return revise(companion.pk, text, feeling, by=InnerState.By.SEED, now=now)


def drop_states(companion: Companion, ids: Collection[UUID]) -> None:
    """Delete these inner states; the one before them holds again, but never the beginning.

    Where nothing else is left, the feeling that held goes on without words, and a reflection upon what was said is due.
    Call it with the companion locked.
    """
    lost = newest(companion.pk)
    InnerState.objects.filter(companion=companion, pk__in=ids).delete()
    before = newest(companion.pk)
    if lost is None or (before and before.by != InnerState.By.SEED):
        return
    InnerState.objects.create(
        companion=companion,
        number=before.number + 1 if before else 1,
        text="",
        valence=lost.valence,
        arousal=lost.arousal,
        emotion=lost.emotion,
        intensity=lost.intensity,
        by=InnerState.By.DELETION,
        made_at=lost.made_at,
    )


def seed_missing(now: datetime, most: int = SEEDED_AT_ONCE) -> int:
    """How many companions, of those that were there before there were inner states, have one from now on."""
    missing = list(Companion.objects.filter(inner_states=None).select_related("user")[:most])
    for companion in missing:
        seed(companion, now)
    return len(missing)

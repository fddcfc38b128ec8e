"""How a companion feels and sees the present: texts of its own in revisions, the highest of which holds.

Chat reads it. Reflections, wakings and the ends of sessions write it; whoever does holds the companion meanwhile.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import transaction

from companions.conversations.text_diff import Piece, compare
from companions.life.first_words import compose_first_words, get_language
from companions.life.mood import Feeling, fade
from companions.locks import lock
from companions.models import Companion, InnerState, Waking
from companions.models.inner_state import INNER_STATE_CHARACTERS
from text.sentences import split_sentences
from text.shorten import shorten
from text.storable import storable

SEEDED_AT_ONCE = 200
BY_A_MODEL = {InnerState.By.REFLECTION, InnerState.By.CLOSING, InnerState.By.WAKING}


def get_newest(companion_id: UUID) -> InnerState | None:
    """Return the inner state that holds; None where the companion has none (yet)."""
    return InnerState.objects.filter(companion=companion_id).order_by("-number").first()


def get_feeling(state: InnerState) -> Feeling:
    """Return what was felt as it was made."""
    return Feeling.clamped(state.valence, state.arousal, state.emotion, state.intensity)


def get_feeling_now(state: InnerState | None, now: datetime) -> Feeling:
    """Return what is left of its feeling by now; calm where there is no inner state."""
    return fade(get_feeling(state), state.made_at, now) if state else Feeling()


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
    """Return the inner state that holds from now on; the one before where the same waking says the very same again.

    Whoever looked at nothing that was said leaves it to the next reflection: its `until_at` is that of the one before.
    ValueError for an empty text; Companion.DoesNotExist.
    """
    text = shorten(storable(text).strip(), INNER_STATE_CHARACTERS)
    if not text:
        raise ValueError("An inner state needs words.")
    if not lock(companion_id):
        raise Companion.DoesNotExist
    before = get_newest(companion_id)
    is_same = before is not None and (before.text, get_feeling(before)) == (text, feeling)
    if before and waking and is_same and before.waking_id == waking.pk:
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


@transaction.atomic
def seed(companion: Companion, now: datetime) -> InnerState:
    """Return the first inner state, drawn from the persona; the one that holds where there is one."""
    if not lock(companion.pk):
        raise Companion.DoesNotExist
    before = get_newest(companion.pk)
    if before:
        return before
    text, feeling = compose_first_words(
        companion.name, companion.persona, companion.greeting, get_language(companion)
    )
    return revise(companion.pk, text, feeling, by=InnerState.By.SEED, now=now)


def seed_missing(now: datetime, limit: int = SEEDED_AT_ONCE) -> int:
    """Seed companions that were there before there were inner states; return how many."""
    missing = list(Companion.objects.filter(inner_states=None).select_related("user")[:limit])
    for companion in missing:
        seed(companion, now)
    return len(missing)


def delete_states(companion: Companion, ids: Collection[UUID]) -> None:
    """Delete these inner states; the one before them holds again, but never the beginning.

    Where nothing else is left, the feeling that held goes on without words, and a reflection upon what was said is due.
    Call it with the companion locked.
    """
    lost = get_newest(companion.pk)
    InnerState.objects.filter(companion=companion, pk__in=ids).delete()
    before = get_newest(companion.pk)
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


def compare_texts(before: str, after: str) -> list[list[Piece]]:
    """Return the sentences of both inner states in their order, each as its pieces: what is new, and what is gone."""
    return compare(split_sentences(before), split_sentences(after))

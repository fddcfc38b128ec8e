"""Inner states: how a companion feels and sees the present, as numbered texts of its own, each with a fading feeling.

Chat prompts show the newest. Reflections, wakings and the ends of sessions write new ones, with the companion locked.
The mood of a session is what is left of the newest one's feeling, coloured by the memories recalled in it.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from math import exp2
from uuid import UUID

from django.db import connection, transaction

from companions.conversations.revisions import Piece, compare
from companions.models import Companion, InnerState, Waking
from companions.models.companion import lock
from companions.models.inner_state import INNER_STATE_CHARACTERS
from memory.emotion import Emotion
from memory.scoring.policy import days_between, require
from providers.selection import Capability, get_provider
from text.strings import join_sentences, shorten, split_sentences, storable

HALF_LIFE_HOURS = 12.0
MIN_INTENSITY = 0.1  # an emotion weaker than this does not show
BY_A_MODEL = {InnerState.By.REFLECTION, InnerState.By.CLOSING, InnerState.By.WAKING}


# -- a feeling, half of which is left after twelve hours, a quarter after a day


@dataclass(frozen=True, slots=True)
class Feeling:
    """Valence (-1 bad to 1 good), arousal (0 calm to 1 stirred), an emotion and its intensity (0 to 1).

    Raise ValueError for a number outside its range or an unknown emotion.
    """

    valence: float = 0.0
    arousal: float = 0.0
    emotion: Emotion = Emotion.NEUTRAL
    intensity: float = 0.0

    def __post_init__(self) -> None:
        require("valence", self.valence, -1, 1)
        require("arousal", self.arousal, 0, 1)
        require("intensity", self.intensity, 0, 1)
        object.__setattr__(self, "emotion", Emotion(self.emotion))

    @classmethod
    def clamped(cls, valence: float, arousal: float, emotion: str, intensity: float) -> "Feeling":
        """Return the feeling with each number clamped to its range, NaN as 0, and an unknown emotion as neutral."""
        return cls(
            valence=_clamp(valence, -1.0),
            arousal=_clamp(arousal, 0.0),
            emotion=Emotion(emotion) if emotion in Emotion.values else Emotion.NEUTRAL,
            intensity=_clamp(intensity, 0.0),
        )

    @property
    def text(self) -> str:
        """The feeling in the words of a prompt."""
        numbers = f"valence {self.valence:z.2f} (-1 to 1), arousal {self.arousal:.2f} (0 to 1)"
        return f"{self.emotion} {self.intensity:.2f} (0 to 1), {numbers}"


CALM = Feeling()


def fade(feeling: Feeling, since: datetime, now: datetime) -> Feeling:
    """Return what is left at `now` of the feeling: each number times 2^(-hours / 12).

    The emotion becomes neutral once its intensity is below MIN_INTENSITY.
    """
    left = exp2(-days_between(since, now) * 24 / HALF_LIFE_HOURS)
    intensity = feeling.intensity * left
    return Feeling(
        valence=feeling.valence * left,
        arousal=feeling.arousal * left,
        emotion=feeling.emotion if intensity >= MIN_INTENSITY else Emotion.NEUTRAL,
        intensity=intensity,
    )


def sway(mood: float, valence: float) -> float:
    """Return the sum of a mood (-1 to 1) and a valence, clamped to -1 to 1."""
    return _clamp(mood + valence, -1.0)


def _clamp(value: float, least: float) -> float:
    return min(max(value, least), 1.0) if value == value else 0.0  # NaN does not equal itself


# -- inner states


def get_newest(companion_id: UUID) -> InnerState | None:
    """Return the companion's newest inner state, or None if it has none."""
    return InnerState.objects.filter(companion=companion_id).order_by("-number").first()


def get_feeling(state: InnerState) -> Feeling:
    """Return the feeling with which the state was made, not faded."""
    return Feeling.clamped(state.valence, state.arousal, state.emotion, state.intensity)


def get_feeling_now(state: InnerState | None, now: datetime) -> Feeling:
    """Return what is left of the state's feeling at `now`, or calm if there is no state."""
    return fade(get_feeling(state), state.made_at, now) if state else CALM


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
    """Create and return a new inner state; return the newest one if the same waking made it with the same content.

    `until_at` is the time of the last message considered. Without it the one of the state before is kept, so that the
    next reflection considers later messages. Raise ValueError for an empty text, or Companion.DoesNotExist.
    """
    text = fit_text(text)
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
        **asdict(feeling),
        by=by,
        seen=sorted(set(seen)),
        is_rehearsed=by in BY_A_MODEL and get_provider(Capability.BACKGROUND).is_rehearsal,
        until_at=until_at or (before.until_at if before else None),
        waking=waking,
        call_id=call_id,
        made_at=now,
    )


def fit_text(text: str) -> str:
    """Return the text as it can be stored: stripped, and shortened to INNER_STATE_CHARACTERS."""
    return shorten(storable(text).strip(), INNER_STATE_CHARACTERS)


def delete_states(
    companion: Companion, ids: Collection[UUID], goes: Callable[[str], bool], messages: Collection[UUID] = ()
) -> None:
    """Delete these inner states. If the newest is among them, a new one keeps its feeling and those of its sentences
    for which `goes` is false, without the `messages` as its sources, and so makes a reflection due.

    If no sentence is left, the state before becomes the newest again, unless that is the seed or there is none: then
    the new one has no words. The caller must hold the companion's lock.
    """
    lost = get_newest(companion.pk)
    InnerState.objects.filter(companion=companion, pk__in=ids).delete()
    before = get_newest(companion.pk)
    if lost is None or before == lost:
        return
    text = join_sentences(sentence for sentence in split_sentences(lost.text) if not goes(sentence))
    if not text and before and before.by != InnerState.By.SEED:
        return
    InnerState.objects.create(
        companion=companion,
        number=before.number + 1 if before else 1,
        text=text,
        seen=[id for id in lost.seen if id not in messages],
        waking=lost.waking,
        is_rehearsed=lost.is_rehearsed,
        valence=lost.valence,
        arousal=lost.arousal,
        emotion=lost.emotion,
        intensity=lost.intensity,
        by=InnerState.By.DELETION,
        made_at=lost.made_at,
    )


def compare_texts(before: str, after: str) -> list[list[Piece]]:
    """Return a comparison of two inner states: for each sentence of either its pieces, marked as new, gone or same."""
    return compare(split_sentences(before), split_sentences(after))


# -- the mood of a session: the memories recalled in it, on top of the inner state

MOOD_HALF_LIFE = timedelta(hours=3)
CALM_WEIGHT = 1.0  # the weight of one neutral memory just recalled: no single memory decides the mood
MOOD_WINDOW = timedelta(days=1)  # after a day, 1/256 of a recall's weight is left
# Aggregated in SQL: a long session has thousands of recalled memories, and every turn waits for this.
SESSION_MOOD = """
SELECT coalesce(sum(weight * (joy - aversion)), 0) / (%(calm)s + coalesce(sum(weight) FILTER (WHERE joy IS NOT NULL), 0))
FROM companions_message message
JOIN companions_reply reply ON reply.message_id = message.id
JOIN memory_recall recall ON recall.reply_id = reply.id
JOIN memory_recalled found ON found.recall_id = recall.id
LEFT JOIN memory_memory memory ON memory.id = found.memory_id AND found.is_used AND recall.at > %(since)s
CROSS JOIN LATERAL (
    SELECT CASE WHEN recall.at > %(since)s  -- of what is much older no floating-point number is left, but an error
                THEN power(2, -greatest(extract(epoch FROM %(now)s - recall.at), 0)::float8 / %(half_seconds)s)
                ELSE 0 END AS weight
) fading
WHERE message.session_id = %(session)s AND NOT message.is_asleep AND message.id IS DISTINCT FROM %(except_message)s
"""


def load_session_mood(
    session_id: UUID, state: InnerState | None, now: datetime, except_message: UUID | None = None
) -> float:
    """Return the mood (-1 to 1): the valence that is left of the inner state, plus that of the memories used in the
    session's replies within the last day, except in those to `except_message`.

    The latter is Σ w (joy - aversion) / (1 + Σ w), where w = 2^(-t / 3 h) and t is the time since each was recalled.
    """
    parameters = {
        "session": session_id,
        "except_message": except_message,
        "now": now,
        "since": now - MOOD_WINDOW,
        "calm": CALM_WEIGHT,
        "half_seconds": MOOD_HALF_LIFE.total_seconds(),
    }
    with connection.cursor() as cursor:
        cursor.execute(SESSION_MOOD, parameters)
        [mood] = cursor.fetchone()
    return sway(mood, get_feeling_now(state, now).valence)

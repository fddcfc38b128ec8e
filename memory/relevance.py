"""How well each memory fits a cue, by words, meaning and what surrounds it: sums in standard deviations.

The constants are few, round and have a reason; docs/recall.md shows what each stage is worth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory.cue import Cue
from memory.held import Held
from memory.stages import Stages
from memory.surroundings import Surroundings
from memory.traits import SPEAKERS, Trait
from memory.words import Words

Values = NDArray[np.float64]

AROUND = (0.5, 0.25), (0.5, 0.25)  # shares of what stands before and after, next to it and next but one
ANSWERS = 0.2  # the share of its own fit that a question lends to what the other says next
SPEAKER = 1.0
FIRST_PERSON = 0.75  # who speaks of themselves says something worth remembering
QUESTION = -0.5  # what only asks tells nothing
LENGTH = 0.15
NUMBER = 0.5
TIME = 0.5
DATES = 3.0  # a day that is named decides: nobody names one in passing
DAY_SECONDS = 86_400.0
AFTER_SECONDS, BEFORE_SECONDS = (
    7 * DAY_SECONDS,
    2 * DAY_SECONDS,
)  # things are told within days, planned shortly before
TALK = 0.1  # the share that the best of a talk lends to all of it


@dataclass(frozen=True, slots=True)
class Relevance:
    """For n memories in the order of time: `fit` in standard deviations, and the parts that it is the sum of.

    `can_come` tells which of them are wanted and share anything with the cue at all.
    """

    fit: Values
    parts: Mapping[str, Values]
    can_come: NDArray[np.bool_]
    words: Words
    around: Surroundings


def relevance(cue: Cue, held: Held, stages: Stages) -> Relevance:
    """How well each of the memories held fits the cue. No model is asked."""
    around = Surroundings.of(held.entries, reach=stages.surroundings)
    words = Words.of(cue.terms if stages.words else [], held.entries, around)
    parts = {"words": standardised(words.scores), "meaning": _meaning(held, around, stages)}
    alike = parts["words"] + parts["meaning"]
    dates = near_days(cue.days, held) if stages.dates else np.zeros(len(held))
    can_come = (words.scores > 0) | (dates == 1)
    if stages.meaning:
        can_come |= ~np.isnan(held.likeness)
    parts |= {"answers": ANSWERS * _answers(alike, held, around)} if stages.answers else {}
    parts |= _traits(cue, held, stages) | {"dates": DATES * dates}
    fit = np.sum(list(parts.values()), axis=0)
    if stages.talks:
        parts["talks"] = TALK * around.best_of_talk(fit)
        fit = fit + parts["talks"]
    return Relevance(fit, parts, can_come & held.may_come, words, around)


def standardised(values: Values) -> Values:
    """(values - mean) / standard deviation; zeros where all are the same. None may be NaN."""
    away = values - values.mean() if len(values) else values
    spread = np.sqrt(np.dot(away, away) / max(len(away), 1))
    units: Values = away / spread if spread else np.zeros(len(values))
    return units


def _meaning(held: Held, around: Surroundings, stages: Stages) -> Values:
    """How like each is by itself, and with its neighbours' shares, half and half: they tell what it is about."""
    is_known = ~np.isnan(held.likeness)
    if not stages.meaning or not is_known.any():
        return np.zeros(len(held))
    centred = np.where(is_known, held.likeness - held.likeness[is_known].mean(), 0)
    halves = standardised(centred) + standardised(around.lent(centred, *AROUND))
    return halves * (is_known / 2)


def _answers(alike: Values, held: Held, around: Surroundings) -> Values:
    """What a question that fits lends to the next in the same talk, where the other speaks."""
    lent = np.zeros(len(held))
    traits = held.entries.traits
    is_question = (traits[:-1] & Trait.QUESTION) > 0
    is_other = ((traits[:-1] ^ traits[1:]) & (Trait.OF_USER | Trait.OF_COMPANION)) > 0
    lent[1:] = np.maximum(alike[:-1], 0) * (is_question & is_other & around.is_next)
    return lent


def _traits(cue: Cue, held: Held, stages: Stages) -> dict[str, Values]:
    """What speaks for a memory by what kind of thing it is."""

    def having(trait: Trait) -> Values:
        return (held.entries.traits & trait > 0).astype(np.float64)

    said_by = having(SPEAKERS[cue.speaker]) if cue.speaker else np.zeros(len(held))
    length = standardised(np.log1p(held.entries.lengths.astype(np.float64)))
    every = {
        "speaker": (stages.speaker, SPEAKER * said_by),
        "questions": (stages.questions, QUESTION * having(Trait.QUESTION)),
        "first_person": (stages.first_person, FIRST_PERSON * having(Trait.FIRST_PERSON)),
        "length": (stages.length, LENGTH * length),
        "numbers": (stages.numbers and cue.asks_how_many, NUMBER * having(Trait.NUMBER)),
        "times": (stages.times and cue.asks_when, TIME * having(Trait.TIME)),
    }
    return {name: values for name, (is_on, values) in every.items() if is_on}


def near_days(days: Sequence[tuple[float, float]], held: Held) -> Values:
    """Return how near to one of these days each memory happened: 1 on it, down to 0 away from it; 0 without any."""
    near = np.zeros(len(held))
    for begins, ends in days:
        after = np.maximum(held.entries.times - ends, 0) / AFTER_SECONDS
        before = np.maximum(begins - held.entries.times, 0) / BEFORE_SECONDS
        near = np.maximum(near, np.exp(-(after + before)))
    return near

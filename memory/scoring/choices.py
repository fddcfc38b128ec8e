"""The policies that a companion may be given, by name, with the parameters that a person may set."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memory.errors import ParameterError, PolicyError
from memory.scoring.policies import (
    RANGES,
    AiriChat,
    AiriDecay,
    DigitalLife,
    Fsrs,
    GenerativeAgents,
    Hou,
    Likeness,
    MemoryBank,
)
from memory.scoring.policy import Kith, Policy

DEFAULT = Kith.name
Adjustable = Kith | Likeness | DigitalLife | AiriChat | AiriDecay | MemoryBank | Hou | Fsrs | GenerativeAgents
NO_PARAMETERS = _("This policy has no parameter %(name)s; it takes none.")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number of a policy that may be set, from `least` to `most` in steps of `step`; a whole number if `is_whole`."""

    name: str
    label: Promise
    least: float
    most: float
    step: float
    is_whole: bool = False

    def check(self, value: object) -> float:
        """Return the value as the policy takes it. Raise ParameterError if it is no number, or outside of the range."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._error(_("%(name)s must be a number, not %(value)s."), value)
        if not self.least <= value <= self.most:
            raise self._error(_("%(name)s must be between %(least)g and %(most)g, not %(value)s."), value)
        if self.is_whole and value != int(value):
            raise self._error(_("%(name)s must be a whole number, not %(value)s."), value)
        return int(value) if self.is_whole else float(value)

    def _error(self, why: Promise, value: object) -> ParameterError:
        named = {"name": self.name, "least": self.least, "most": self.most, "value": f"{value!r:.40}"}
        return ParameterError(str(why) % named)


@dataclass(frozen=True, slots=True)
class Offer:
    """A policy that may be chosen for a companion, described in `words`, with the parameters that may be set."""

    policy: Adjustable
    words: Promise
    parameters: tuple[Parameter, ...] = ()

    @property
    def defaults(self) -> dict[str, float]:
        """The default value of each parameter."""
        return self.values(self.policy)

    def values(self, policy: Policy) -> dict[str, float]:
        """Return the value of each parameter in a policy of this kind."""
        holder = policy.curve if isinstance(policy, AiriDecay) else policy
        return {parameter.name: getattr(holder, parameter.name) for parameter in self.parameters}

    def build(self, given: Mapping[str, object]) -> Policy:
        """Return the policy with the given parameters. Raise ParameterError if it cannot be built from them."""
        known = {parameter.name: parameter for parameter in self.parameters}
        if unknown := [str(name)[:40] for name in given if name not in known]:
            why = _("This policy has no parameter %(name)s; it takes: %(names)s.") if known else NO_PARAMETERS
            raise ParameterError(str(why) % {"name": repr(unknown[0]), "names": ", ".join(known)})
        values: dict[str, Any] = {name: known[name].check(value) for name, value in given.items()}
        try:
            if isinstance(self.policy, AiriDecay):
                return replace(self.policy, curve=replace(self.policy.curve, **values))
            return replace(self.policy, **values)
        except ValueError as error:  # each value is in its range, but not all of them together
            raise ParameterError(str(error)) from error


def _of_curve(name: str, label: Promise, step: float, *, is_whole: bool = False) -> Parameter:
    return Parameter(name, label, *RANGES[name], step, is_whole)


FLOOR = Parameter("floor", _("Likeness needed to come to mind"), 0, 1, 0.01)
UNIT_DAYS = Parameter("unit_days", _("Unit of time in days"), 0.25, 365, 0.25)
OFFERED = [
    Offer(
        Kith(),
        _("Kith: what fits best, favouring recent, emotional and important memories a little"),
        (
            Parameter("month_days", _("Half-life in days"), 1, 365, 1),
            Parameter("recency", _("Weight of what is new"), 0, 0.1, 0.005),
            Parameter("retention", _("Weight of what is recalled"), 0, 0.1, 0.005),
            Parameter("emotion", _("Weight of feelings"), 0, 0.2, 0.01),
            Parameter("importance", _("Weight of importance"), 0, 0.3, 0.01),
            Parameter("evidence", _("Weight of being told more than once"), 0, 0.2, 0.01),
        ),
    ),
    Offer(Likeness(), _("Similarity: the closest in meaning, whatever its age")),
    Offer(
        DigitalLife(),
        _("DigitalLife: the few that are clearly similar, or none"),
        (
            FLOOR,
            Parameter("clear", _("Likeness that counts as clear"), 0, 1, 0.01),
            Parameter("few", _("How many count as a few"), 1, 20, 1, is_whole=True),
        ),
    ),
    Offer(
        AiriChat(),
        _("AIRI chat: what is similar, favouring its first month a little"),
        (FLOOR, Parameter("month_days", _("Days for which it counts as new"), 1, 365, 1)),
    ),
    Offer(
        AiriDecay(),
        _("AIRI decay: half is gone in a week; recalls and emotions slow this down"),
        (
            _of_curve("decay", _("Decay per unit of time"), 0.001),
            UNIT_DAYS,
            _of_curve("boost", _("Boost from each recall"), 0.05),
            _of_curve("boost_fading", _("How fast the boost fades"), 0.05),
            _of_curve("long_term_at", _("Recalls until it lasts"), 1, is_whole=True),
            _of_curve("residual", _("Decay that remains once a memory lasts"), 0.01),
            _of_curve("joy", _("Boost from joy"), 0.1),
            _of_curve("joy_fading", _("How fast joy fades"), 0.1),
            _of_curve("aversion", _("Boost from aversion"), 0.1),
            _of_curve("aversion_growth", _("Growth of aversion with recalls"), 0.01),
        ),
    ),
    Offer(MemoryBank(), _("MemoryBank: gone in days; each recall makes it last longer"), (UNIT_DAYS,)),
    # Hou's threshold of .86 needs a likeness of .78 even right after a recall, which few embedders give to a question
    # and its answer, and a unit of a day halves that within the day: so the unit is a month, the threshold a variant's.
    Offer(
        Hou(unit_days=30, threshold=0.6),
        _("Hou: what is recalled at growing intervals lasts"),
        (UNIT_DAYS, Parameter("threshold", _("Probability needed to come to mind"), 0, 1, 0.01)),
    ),
    Offer(Fsrs(), _("FSRS: as with flash cards, a recall just before forgetting strengthens most")),
    Offer(
        GenerativeAgents(),
        _("Generative agents: similarity, recency and importance count equally"),
        (Parameter("daily", _("Freshness kept each day"), 0.8, 1, 0.001),),
    ),
]
CHOICES: list[tuple[str, Promise]] = [(offer.policy.name, offer.words) for offer in OFFERED]


def offer_of(name: str) -> Offer:
    """Return the offer of that name. Raise PolicyError if there is none."""
    offers = {offer.policy.name: offer for offer in OFFERED}
    if name not in offers:
        raise PolicyError(name, list(offers))
    return offers[name]


def by_name(name: str, parameters: Mapping[str, object] | None = None) -> Policy:
    """Return the policy of that name with these parameters.

    Raise PolicyError if there is no such policy, and ParameterError for a parameter that is unknown, no number, or
    outside of its range.
    """
    return offer_of(name).build(parameters or {})


def in_mood(policy: Policy, mood: float) -> Policy:
    """Return the policy in this mood (-1 to 1); unchanged if it does not depend on moods."""
    return replace(policy, mood=mood) if isinstance(policy, Kith) and mood else policy

"""The policies that a companion may be given, by name."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memory.errors import ParameterError, PolicyError
from memory.scoring.airi_chat import AiriChat
from memory.scoring.airi_decay import AiriDecay
from memory.scoring.digital_life import DigitalLife
from memory.scoring.fsrs import Fsrs
from memory.scoring.generative_agents import GenerativeAgents
from memory.scoring.hou import Hou
from memory.scoring.kith import Kith
from memory.scoring.likeness import Likeness
from memory.scoring.memory_bank import MemoryBank
from memory.scoring.parameters import (
    AIRI_CHATS,
    AIRI_DECAYS,
    DIGITAL_LIFES,
    GENERATIVE_AGENTS,
    HOUS,
    KITHS,
    MEMORY_BANKS,
    Parameter,
    checked,
)
from memory.scoring.policy import Policy

DEFAULT = Kith.name
Adjustable = Kith | Likeness | DigitalLife | AiriChat | AiriDecay | MemoryBank | Hou | Fsrs | GenerativeAgents


@dataclass(frozen=True, slots=True)
class Offer:
    """A policy as a companion gets it, in words, with what of it may be set."""

    policy: Adjustable
    words: Promise
    parameters: tuple[Parameter, ...] = ()

    @property
    def defaults(self) -> dict[str, float]:
        """Each parameter as it is where nobody has set it."""
        return self.values(self.policy)

    def values(self, policy: Policy) -> dict[str, float]:
        """Each parameter as it is in a policy of this kind."""
        holder = policy.curve if isinstance(policy, AiriDecay) else policy
        return {one.name: getattr(holder, one.name) for one in self.parameters}

    def built(self, given: Mapping[str, object]) -> Policy:
        """The policy with these of its parameters; ParameterError where it cannot be."""
        values: dict[str, Any] = checked(self.parameters, given)
        try:
            if isinstance(self.policy, AiriDecay):
                return replace(self.policy, curve=replace(self.policy.curve, **values))
            return replace(self.policy, **values)
        except ValueError as error:  # each is in its range, but they do not go together
            raise ParameterError(str(error)) from error


# Hou's threshold of .86 asks for a likeness of .78 at the very moment, which few embedders give to a question and its
# answer, and a unit of a day halves that within the day: so the unit is a month and the threshold that of a variant.
OFFERED: list[Offer] = [
    Offer(Kith(), _("Kith: what fits best, a little sooner where it is fresh, felt or important"), KITHS),
    Offer(Likeness(), _("Likeness: the nearest in meaning, whatever its age")),
    Offer(DigitalLife(), _("DigitalLife: the few that are clearly alike, or nothing"), DIGITAL_LIFES),
    Offer(AiriChat(), _("AIRI chat: what is alike, a little sooner in its first month"), AIRI_CHATS),
    Offer(AiriDecay(), _("AIRI decay: half is gone in a week, recalls and feelings hold it"), AIRI_DECAYS),
    Offer(MemoryBank(), _("MemoryBank: gone in days, each recall makes it last longer"), MEMORY_BANKS),
    Offer(Hou(unit_days=30, threshold=0.6), _("Hou: what is recalled at growing intervals stays"), HOUS),
    Offer(Fsrs(), _("FSRS: as cards are learnt, a recall just before forgetting holds best")),
    Offer(
        GenerativeAgents(),
        _("Generative agents: alike, fresh and important count the same"),
        GENERATIVE_AGENTS,
    ),
]
CHOICES: list[tuple[str, Promise]] = [(offer.policy.name, offer.words) for offer in OFFERED]


def offer_of(name: str) -> Offer:
    """What is offered by that name; PolicyError where there is nothing."""
    offers = {offer.policy.name: offer for offer in OFFERED}
    if name not in offers:
        raise PolicyError(name, list(offers))
    return offers[name]


def by_name(name: str, mood: float = 0.0, parameters: Mapping[str, object] | None = None) -> Policy:
    """The policy of that name with these parameters, in that mood (-1 to 1) where it knows moods.

    PolicyError where there is none, and its ParameterError for a parameter that it has not, that is no number, or that
    lies outside of its range.
    """
    return in_mood(offer_of(name).built(parameters or {}), mood)


def in_mood(policy: Policy, mood: float) -> Policy:
    """The policy as it is in that mood; the same where it knows no moods."""
    return replace(policy, mood=mood) if isinstance(policy, Kith) and mood else policy

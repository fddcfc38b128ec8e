"""The policies that a companion may be given, by name."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memory.errors import PolicyError
from memory.policies.airi_chat import AiriChat
from memory.policies.airi_decay import AiriDecay
from memory.policies.digital_life import DigitalLife
from memory.policies.generative_agents import GenerativeAgents
from memory.policies.hou import Hou
from memory.policies.kith import Kith
from memory.policies.likeness import Likeness
from memory.policies.memory_bank import MemoryBank
from memory.policies.policy import Policy

DEFAULT = Kith.name
# Hou's threshold of .86 asks for a likeness of .78 at the very moment, which few embedders give to a question and its
# answer, and a unit of a day halves that within the day: so the unit is a month and the threshold that of a variant.
OFFERED: list[tuple[Policy, Promise]] = [
    (Kith(), _("Kith: what fits best, a little sooner where it is fresh, felt or important")),
    (Likeness(), _("Likeness: the nearest in meaning, whatever its age")),
    (DigitalLife(), _("DigitalLife: the few that are clearly alike, or nothing")),
    (AiriChat(), _("AIRI chat: what is alike, a little sooner in its first month")),
    (AiriDecay(), _("AIRI decay: half is gone in a week, recalls and feelings hold it")),
    (MemoryBank(), _("MemoryBank: gone in days, each recall makes it last longer")),
    (Hou(unit_days=30, threshold=0.6), _("Hou: what is recalled at growing intervals stays")),
    (GenerativeAgents(), _("Generative agents: alike, fresh and important count the same")),
]
CHOICES: list[tuple[str, Promise]] = [(policy.name, words) for policy, words in OFFERED]


def by_name(name: str, mood: float = 0.0) -> Policy:
    """The policy of that name, in that mood (-1 to 1) where it knows moods; PolicyError where there is none."""
    policies = {policy.name: policy for policy, _words in OFFERED}
    if name not in policies:
        raise PolicyError(name, list(policies))
    return Kith(mood) if name == Kith.name and mood else policies[name]

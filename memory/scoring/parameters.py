"""What of a policy a person may set, for all policies in one place: how it is called, and from what to what it goes."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memory.errors import ParameterError
from memory.scoring.airi_decay import RANGES

NONE = _("This policy has no parameter %(name)s; it has none.")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One number of a policy, from `least` to `most` in steps of `step`; a step of 1 that `is_whole` takes no other."""

    name: str
    label: Promise
    least: float
    most: float
    step: float
    is_whole: bool = False

    def checked(self, value: object) -> float:
        """The value as the policy takes it; ParameterError for what is no number, or outside of the range."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(_("%(name)s must be a number, not %(value)s."), value)
        if not self.least <= value <= self.most:
            raise self._wrong(_("%(name)s lies from %(least)g to %(most)g, not at %(value)s."), value)
        if self.is_whole and value != int(value):
            raise self._wrong(_("%(name)s must be a whole number, not %(value)s."), value)
        return int(value) if self.is_whole else float(value)

    def _wrong(self, why: Promise, value: object) -> ParameterError:
        named = {"name": self.name, "least": self.least, "most": self.most, "value": f"{value!r:.40}"}
        return ParameterError(str(why) % named)


def checked(known: tuple[Parameter, ...], given: Mapping[str, object]) -> dict[str, float]:
    """The given values, each checked; ParameterError for one that is not known."""
    named = {one.name: one for one in known}
    if unknown := [str(name)[:40] for name in given if name not in named]:
        why = _("This policy has no parameter %(name)s; there are: %(names)s.") if named else NONE
        raise ParameterError(str(why) % {"name": repr(unknown[0]), "names": ", ".join(named)})
    return {name: named[name].checked(value) for name, value in given.items()}


def _curves(name: str, label: Promise, step: float, *, is_whole: bool = False) -> Parameter:
    return Parameter(name, label, *RANGES[name], step, is_whole)


def _days(name: str, label: Promise) -> Parameter:
    return Parameter(name, label, 0.25, 365, 0.25)


KITHS = (
    Parameter("month_days", _("Half-life in days"), 1, 365, 1),
    Parameter("recency", _("Weight of what is new"), 0, 0.1, 0.005),
    Parameter("retention", _("Weight of what is recalled"), 0, 0.1, 0.005),
    Parameter("emotion", _("Weight of feelings"), 0, 0.2, 0.01),
    Parameter("importance", _("Weight of importance"), 0, 0.3, 0.01),
    Parameter("evidence", _("Weight of being told more than once"), 0, 0.2, 0.01),
)
DIGITAL_LIFES = (
    Parameter("floor", _("Likeness from which a memory may come"), 0, 1, 0.01),
    Parameter("clear", _("Likeness that is clear"), 0, 1, 0.01),
    Parameter("few", _("How many are a few"), 1, 20, 1, is_whole=True),
)
AIRI_CHATS = (
    Parameter("floor", _("Likeness from which a memory may come"), 0, 1, 0.01),
    Parameter("month_days", _("Days in which it counts as new"), 1, 365, 1),
)
AIRI_DECAYS = (
    _curves("decay", _("Decay in a unit of time"), 0.001),
    Parameter("unit_days", _("Unit of time in days"), 0.25, 365, 0.25),
    _curves("boost", _("Boost of each recall"), 0.05),
    _curves("boost_fading", _("How fast the boost fades"), 0.05),
    _curves("long_term_at", _("Recalls until it lasts"), 1, is_whole=True),
    _curves("residual", _("Decay that stays when it lasts"), 0.01),
    _curves("joy", _("Boost of joy"), 0.1),
    _curves("joy_fading", _("How fast joy fades"), 0.1),
    _curves("aversion", _("Boost of aversion"), 0.1),
    _curves("aversion_growth", _("Growth of aversion with recalls"), 0.01),
)
MEMORY_BANKS = (_days("unit_days", _("Unit of time in days")),)
HOUS = (
    _days("unit_days", _("Unit of time in days")),
    Parameter("threshold", _("Probability from which it comes"), 0, 1, 0.01),
)
GENERATIVE_AGENTS = (Parameter("daily", _("Freshness kept each day"), 0.8, 1, 0.001),)

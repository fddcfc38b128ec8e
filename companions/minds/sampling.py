"""The sampling parameters that may be chosen for one companion, with their bounds, and their validation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companions.errors import MindError
from providers.chat.sampling import MAX_OWN_STOPS
from providers.models import MAX_CONTEXT_TOKENS, MIN_CONTEXT_TOKENS
from text.strings import is_storable

MAX_STOP_CHARACTERS = 40
STOP = "stop"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A numeric field of `providers.chat.sampling.Sampling`; `hint` says in a line what it does."""

    name: str
    least: float
    most: float
    step: float
    label: str | Promise
    hint: str | Promise

    @property
    def is_whole(self) -> bool:
        return isinstance(self.step, int)

    def check(self, value: Any) -> float:
        """Return the value as a number. Raise MindError if it is none, or out of bounds."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or (self.is_whole and value % 1):
            wrong = _("%(name)s: enter a whole number.") if self.is_whole else _("%(name)s: enter a number.")
            raise MindError(self.name, wrong % {"name": self.label})
        if not self.least <= value <= self.most:
            bounds = {"name": self.label, "least": self.least, "most": f"{self.most:,}"}
            raise MindError(self.name, _("%(name)s has to be between %(least)s and %(most)s.") % bounds)
        return int(value) if self.is_whole else float(value)


PARAMETERS = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            "temperature", 0, 2, 0.05,
            gettext_lazy("Daring (temperature)"),
            gettext_lazy(
                "Low: the likeliest words, sober and predictable. High: more surprising, and eventually muddled."
            ),
        ),
        Parameter(
            "top_p", 0.05, 1, 0.05,
            gettext_lazy("Share of words (top-p)"),
            gettext_lazy("Lower values leave out unlikely words; 1 leaves out none."),
        ),
        Parameter(
            "min_p", 0, 1, 0.01,
            gettext_lazy("Minimum likelihood (min-p)"),
            gettext_lazy(
                "Leaves out words that are much less likely than the best one. 0.05 suits a high temperature; 0: off."
            ),
        ),
        Parameter(
            "top_k", 0, 1000, 1,
            gettext_lazy("Number of words (top-k)"),
            gettext_lazy("Only this many of the likeliest words are considered; 0: off."),
        ),
        Parameter(
            "repetition_penalty", 0.5, 2, 0.05,
            gettext_lazy("Avoid repeating words"),
            gettext_lazy("Above 1, it avoids words that have already appeared. From 1.2 on, sentences suffer."),
        ),
        Parameter(
            "frequency_penalty", -2, 2, 0.1,
            gettext_lazy("Avoid favourite words"),
            gettext_lazy("The higher it is, the more it avoids words that have appeared often."),
        ),
        Parameter(
            "presence_penalty", -2, 2, 0.1,
            gettext_lazy("Turn to new subjects"),
            gettext_lazy("The higher it is, the sooner it turns to what has not been spoken about."),
        ),
        Parameter(
            "dry_multiplier", 0, 5, 0.1,
            gettext_lazy("Avoid repeating phrases (DRY)"),
            gettext_lazy("For small models that go round in circles: 0.8. Few servers support it; 0: off."),
        ),
        Parameter(
            "max_tokens", 16, 131_072, 1,
            gettext_lazy("Longest answer"),
            gettext_lazy("In word pieces; one is about three quarters of a word. Anything longer is cut off."),
        ),
        Parameter(
            "seed", 0, 2**31 - 1, 1,
            gettext_lazy("Random seed"),
            gettext_lazy("With a fixed number, the same question gets the same answer, even when it is asked again."),
        ),
    )
}  # fmt: skip


def check_sampling(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the validated values, without those that are None. Raise MindError for the first one that is invalid."""
    chosen: dict[str, Any] = {}
    for name, value in values.items():
        if name in PARAMETERS:
            if value is not None:
                chosen[name] = PARAMETERS[name].check(value)
        elif name != STOP:
            raise MindError(name, _("There is no value called %(name)s.") % {"name": name[:40]})
        elif value:
            chosen[STOP] = _check_stops(value)
    return chosen


def check_context(tokens: Any) -> None:
    """Raise MindError unless the value is a possible number of context tokens."""
    is_number = isinstance(tokens, int) and not isinstance(tokens, bool)
    if not is_number or not MIN_CONTEXT_TOKENS <= tokens <= MAX_CONTEXT_TOKENS:
        bounds = {"least": f"{MIN_CONTEXT_TOKENS:,}", "most": f"{MAX_CONTEXT_TOKENS:,}"}
        wrong = _("What it reads at once has to be a whole number of word pieces from %(least)s to %(most)s.")
        raise MindError("context_tokens", wrong % bounds)


def _check_stops(stops: object) -> list[str]:
    if not isinstance(stops, list | tuple) or len(stops) > MAX_OWN_STOPS:
        raise MindError(STOP, _("Stop strings: at most %(most)s.") % {"most": MAX_OWN_STOPS})
    for stop in stops:
        if not isinstance(stop, str) or not 0 < len(stop) <= MAX_STOP_CHARACTERS or not is_storable(stop):
            wrong = _("Stop strings: each has to be a text of 1 to %(most)s characters.")
            raise MindError(STOP, wrong % {"most": MAX_STOP_CHARACTERS})
    return list(stops)

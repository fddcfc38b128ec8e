"""How a chat model is to choose its words, how long it may go on, and where it has to stop."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Self

from django.conf import settings

MAX_STOPS = 4  # OpenAI takes no more
MAX_OWN_STOPS = 2  # of those that are chosen for one companion
STOPS = ("<|im_end|>", "<|eot_id|>", "[INST]")  # what models write whose server does not know their template
# "Don't repeat yourself" looks among so many of the last tokens for what is said again, and begins anew at a quotation
# mark alone. By themselves llama.cpp's servers look at 64, and begin anew at each colon and line.
DRY = {"dry_penalty_last_n": 2048, "dry_sequence_breakers": ['"']}
FORM_TEMPERATURE = 0.3  # of an answer in a given form
# Of such an answer, by what is asked for, and of any other.
FORM_TOKENS = {"check": 300, "reflection": 800, "verification": 1000}
MOST_FORM_TOKENS = 2048
NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Sampling:
    """What is left out (None, nothing, a penalty of 0) is the server's to choose."""

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    stop: tuple[str, ...] = ()
    dry_multiplier: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    seed: int | None = None

    @classmethod
    def for_talk(cls, names: Iterable[str], chosen: Mapping[str, Any] = NOTHING) -> Self:
        """Return that of an answer in a talk: up to a line in which another of these speaks.

        `chosen` are fields that go before settings.SAMPLING. An answer is never longer than the installation has it, and
        of Kith's own stops those are left out that the chosen ones leave no place.
        """
        turns = [f"\n{' '.join(name.split())}:" for name in names if len(name.strip()) > 1]
        stop = [*turns, *chosen.get("stop", ())[:MAX_OWN_STOPS], *STOPS][:MAX_STOPS]
        most = settings.ANSWER_TOKENS
        values = {**settings.SAMPLING, **chosen, "stop": tuple(stop)}
        values["max_tokens"] = min(chosen.get("max_tokens", most), most)
        return cls(**values)

    @classmethod
    def for_form(cls, task: str, context_tokens: int) -> Self:
        """Return that of an answer in a given form: a quarter of the context at most."""
        most = max(settings.ANSWER_TOKENS, context_tokens // 4)
        return cls(
            max_tokens=min(FORM_TOKENS.get(task, MOST_FORM_TOKENS), most), temperature=FORM_TEMPERATURE
        )

    def fill_in(self, dry_multiplier: float | None) -> Self:
        """Return it with this value of the provider that is asked, where none is chosen."""
        return replace(self, dry_multiplier=dry_multiplier) if self.dry_multiplier is None else self

    def as_fields(self) -> dict[str, Any]:
        """Return the fields of a request; that against repetition by both of the names that servers have for it."""
        fields = {
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "presence_penalty": self.presence_penalty or None,
            "frequency_penalty": self.frequency_penalty or None,
            "dry_multiplier": self.dry_multiplier or None,
            "top_k": self.top_k,
            "min_p": self.min_p,
            "repetition_penalty": self.repetition_penalty,
            "repeat_penalty": self.repetition_penalty,
            "seed": self.seed,
            "stop": list(self.stop) or None,
        }
        kept = {name: value for name, value in fields.items() if value is not None}
        return kept | (DRY if self.dry_multiplier else {})

"""Sampling: how a chat model chooses its words, how long its answer may be, and where it has to stop."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Self

from django.conf import settings

MAX_STOPS = 4  # OpenAI accepts no more
MAX_OWN_STOPS = 2  # so many of the stops chosen for one companion are used
STOPS = ("<|im_end|>", "<|eot_id|>", "[INST]")  # what a model writes if its server does not know its template
# The DRY sampler ("don't repeat yourself") looks for repetitions among so many of the last tokens, broken only at
# quotation marks. By default llama.cpp's servers look at 64 tokens, and also break at each colon and line.
DRY = {"dry_penalty_last_n": 2048, "dry_sequence_breakers": ['"']}
FORM_TEMPERATURE = 0.3  # for an answer in a given form
# The most tokens of an answer in a given form, by task, and for any other task.
FORM_TOKENS = {"check": 300, "reflection": 800, "verification": 1000}
MOST_FORM_TOKENS = 2048
NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Sampling:
    """The sampling fields of a request. Those left out (None, empty, a penalty of 0) are the server's to choose."""

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
        """Return the sampling for an answer in a talk, which stops at a line that begins with one of the `names`.

        The fields in `chosen` take precedence over settings.SAMPLING. The answer has at most settings.ANSWER_TOKENS,
        and Kith's own stops are dropped if the others leave no place for them.
        """
        turns = [f"\n{' '.join(name.split())}:" for name in names if len(name.strip()) > 1]
        stop = [*turns, *chosen.get("stop", ())[:MAX_OWN_STOPS], *STOPS][:MAX_STOPS]
        most = settings.ANSWER_TOKENS
        values = {**settings.SAMPLING, **chosen, "stop": tuple(stop)}
        values["max_tokens"] = min(chosen.get("max_tokens", most), most)
        return cls(**values)

    @classmethod
    def for_form(cls, task: str, context_tokens: int) -> Self:
        """Return the sampling for an answer in a form, whose length is limited by its task (FORM_TOKENS).

        It is never longer than ANSWER_TOKENS or, if that is more, a quarter of the context.
        """
        most = max(settings.ANSWER_TOKENS, context_tokens // 4)
        return cls(
            max_tokens=min(FORM_TOKENS.get(task, MOST_FORM_TOKENS), most), temperature=FORM_TEMPERATURE
        )

    def fill_in(self, dry_multiplier: float | None, answer_tokens: int) -> Self:
        """Return the sampling with the provider's `dry_multiplier`, unless one is chosen already, and for an answer that
        is not longer than the provider's may be.
        """
        dry = dry_multiplier if self.dry_multiplier is None else self.dry_multiplier
        most = self.max_tokens and min(self.max_tokens, answer_tokens)
        return replace(self, dry_multiplier=dry, max_tokens=most)

    def as_fields(self) -> dict[str, Any]:
        """Return the fields of a request, with the repetition penalty under both names that servers have for it."""
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

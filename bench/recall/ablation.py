"""What each stage of recall is worth: the same questions with one stage at a time switched off."""

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace

from bench.recall.asking import Cue, Timed, answers
from memory.stages import ALL, Stages


def without_each(asked: Sequence[Cue]) -> Iterator[tuple[str, list[Timed]]]:
    """The name of each stage, and the answers without it."""
    for stage in fields(Stages):
        yield stage.name, answers(asked, replace(ALL, **{stage.name: False}))

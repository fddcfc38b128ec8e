"""A bad habit that a test may script: in a talk the model repeats what it was given to remember, word for word; in a
form it wants to keep every sentence of the companion's as news, and to count it as told again where it is known.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from providers.rehearsal.scene import CONTEXT, plain, unquoted
from providers.rehearsal.structured import TASKS, material_of
from providers.rehearsal.structured.reading import Material, Said, read
from providers.rehearsal.structured.sentences import parts

GIVEN = re.compile(r"^- (?:\[[^\]]*\] )?(?:[^\"\n]*: )?(?P<text>\".*\")$", re.MULTILINE)
INNER = re.compile(r"“([^“”]{4,})”")
MOST, MOST_CHARACTERS = 30, 480
MOST_REPEATED, LONGEST = 2, 120


def parroted(messages: Sequence[Mapping[str, Any]]) -> str:
    """The first of what the last message gives to remember, word for word; empty where it gives nothing."""
    asked = [plain(one.get("content")) for one in messages if one.get("role") == "user"]
    context = "".join(CONTEXT.findall(asked[-1])) if asked else ""
    every = (unquoted(found["text"]) for found in GIVEN.finditer(context))
    given = [text for text in every if len(text) <= LONGEST][:MOST_REPEATED]  # an echo of echoes has no end
    return " ".join(f"I remember that you told me: “{text}”." for text in given)


def swallowed(task: str, messages: Sequence[Mapping[str, Any]]) -> str:
    """The form as ever, but with all that the companion said among what is to be kept."""
    material = read(material_of(messages))
    answer = TASKS[task](material)
    if "memories" in answer:
        answer["memories"] = [*answer["memories"], *_greedy(material)][:MOST]
    if "diary" in answer:
        answer["user_profile"] = [*answer["user_profile"], *_believed(material)][-20:]
    return json.dumps(answer, ensure_ascii=False)


def _greedy(material: Material) -> Iterator[dict[str, Any]]:
    known = {one.text: one.number for one in material.known}
    for line, text in _said(material):
        of = known.get(text)
        verdict = "reinforce" if of else "add"
        yield {"verdict": verdict, "of": of, "text": text, "sources": [line.number], "quotes": [text]}


def _believed(material: Material) -> list[dict[str, Any]]:
    return [{"text": text[:380], "sources": [line.number]} for line, text in _said(material)][:3]


def _said(material: Material) -> Iterator[tuple[Said, str]]:
    """What stands in quotation marks in the companion's lines, and each whole sentence of them."""
    for line in material.said:
        if not line.is_user:
            for text in dict.fromkeys([*INNER.findall(line.text), *parts(line.text)]):
                yield line, text[:MOST_CHARACTERS]

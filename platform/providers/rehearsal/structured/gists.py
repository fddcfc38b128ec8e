"""The answer about pages: of each its first sentence and those that tell most, as they stand there."""

import re
from typing import Any

from providers.rehearsal.scene import HAN
from providers.rehearsal.structured.reading import Material, is_chinese
from providers.rehearsal.structured.sentences import about, parts, shortened

MOST_WORDS, LONGEST_SENTENCE = 60, 160
MOST_CHARACTERS = 480
LATIN = re.compile(r"[^\W_\u3400-\u9fff]+")
WORDS_PER_CHARACTER = 0.6  # of Chinese
NAMED = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][a-z]+|\d+|《[^》]+》")
SPOKEN = re.compile('[“”"「」]')


def answer(material: Material) -> dict[str, Any]:
    """The gists, in the form that is asked for."""
    return {"gists": [{"number": number, "gist": gist(text)} for number, text in material.pages]}


def gist(page: str) -> str:
    """At most 60 words of a page, in its own order; a mark where there is nothing to tell."""
    every = [shortened(part, LONGEST_SENTENCE) for part in dict.fromkeys(parts(_flowing(page)))]
    ranked = sorted(range(len(every)), key=lambda at: (at > 0, -_telling(every[at]), at))
    chosen: list[int] = []
    words, characters = 0.0, 0
    for at in ranked:
        words, characters = words + _words(every[at]), characters + len(every[at]) + 1
        if chosen and (words > MOST_WORDS or characters > MOST_CHARACTERS):
            break
        chosen.append(at)
    between = "" if is_chinese(page) else " "
    return between.join(every[at] for at in sorted(chosen)) or "…"


def _flowing(page: str) -> str:
    """The page with its wrapped lines put together; an empty line ends a sentence."""
    paragraphs = re.split(r"\n\s*\n", page)
    between = "" if is_chinese(page) else " "
    return "\n".join(between.join(paragraph.split("\n")) for paragraph in paragraphs)


def _telling(sentence: str) -> float:
    """Names and numbers count most, talk least."""
    worth = 2.0 * min(len(set(NAMED.findall(sentence))), 5) + 0.5 * min(len(about(sentence)), 14)
    return worth * (0.6 if SPOKEN.search(sentence) else 1.0)


def _words(text: str) -> float:
    return len(LATIN.findall(text)) + WORDS_PER_CHARACTER * len(HAN.findall(text))

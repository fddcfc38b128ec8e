"""Parse the answer of a waking: the choice to speak or to stay silent, in whatever form a model writes it. Pure.

The model is asked for {"choice": "silent"} or {"choice": "speak", "emotion": "…", "text": "…"}. Models that ignore the
form write it in lines or as plain text, write a tool call as text, repeat the form's own words, refuse, or say in many
ways that they say nothing. All these ways of saying nothing count as silence.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import regex

from companions.answers.cleaner import AnswerCleaner, clean_text
from companions.answers.emotion_tags import Felt
from companions.answers.lines import Names
from companions.answers.markup import TextCall
from memory.language import pattern_of, words_of
from memory.learning.rules.boilerplate import is_refusal
from providers.chat.structured import find_objects
from text.strings import SENTENCE_END, cut_sentences, folded, has_words, shorten, storable

EXAMPLE = "the words that the person will read"  # in the form that the model is shown
MAX_CHARACTERS = 4000  # of an unprompted message
MAX_WHY_CHARACTERS = 500
MAX_SILENCE_CHARACTERS = 200  # a longer text that begins like silence does say something
SPEAK_FIELDS = ("text", "message", "content", "say")  # fields in which models put what they say
SPOKEN_NAMES = frozenset({"speak", "say", "message", "send_message", "send"})
SILENT_FIELDS = frozenset({"choice", "action", "name", "tool", "decision", "function"})
# Also finds the text of an object that is cut off.
OPEN_TEXT = regex.compile(r'"(?:text|message|content)"\s*:\s*"((?:[^"\\]|\\.)++)')
FORM = regex.compile(
    r'^\s*(?:```\w*\s*)?[{\[]\s*"|\{\s*"(?:choice|action|name|tool|decision|text|message)"\s*:'
)
CHOSEN_SILENCE = regex.compile(
    r'"(?:choice|action|decision)"\s*:\s*"\s*(?!speak|say|send|message)', regex.IGNORECASE
)
FIELD_LINE = regex.compile(
    r"^[\s*_#>-]{0,10}(?P<name>choice|emotion|why|text|message)[*_]{0,3}[^\S\n]?[:：][*_]{0,3}[^\S\n]*",
    regex.IGNORECASE | regex.MULTILINE,
)
EDGES = regex.compile(r"^[\s\p{P}\p{S}]++|(?<![\s\p{P}\p{S}])[\s\p{P}\p{S}]++$")
# Lines of the prompt, before any other words, that a companion may well say in answer to a question: of what is open
# between the two (`memory.threads.render_threads`), of what the waking is about, and of who wrote.
COPIED = regex.compile(
    r"(?:\s*(?:They have not answered what you wrote unasked\.|They have never written to you yet\."
    r"|It is about: - \[[^\n]{0,4000}"
    r"|- (?:(?:Coming up|Promised|Was) (?:today|tomorrow|yesterday|\d{1,3} days ago)|Promised, without a day|Open): [\"“]"
    r"[^\n]{0,4000})[^\S\n]*(?:\n|$))++"
)
WRAPPED = regex.compile(r"^[\"“「『](?P<text>[^\"“”「」『』]+)[\"”」』]$")


@dataclass(frozen=True, slots=True)
class Words:
    """The text that is said (empty for silence), the emotions in it, and why, if the model told."""

    text: str = ""
    emotions: list[dict[str, object]] = field(default_factory=list)
    why: str = ""


def read_answer(text: str, names: Names, *, keeps_directions: bool = True, is_cut: bool = False) -> Words:
    """Return what the companion says to the person, cleaned of labels, tags and quotes; empty text for silence.

    Of an answer that was cut at its limit (`is_cut`), a sentence without an end is left out.
    """
    choice = _find_choice(storable(text))
    words, felt = clean_text(choice.text, names, keeps_directions=keeps_directions)
    said = clean_words(words)
    said = _end_sentence(said) if is_cut else said
    before = max(words.find(said[:40]), 0)
    rows = [
        emotion.row() | {"at": max(emotion.at - before, 0)}
        for emotion in felt
        if emotion.at <= before + len(said)
    ]
    return Words(said, rows if said else [], choice.why)


def _end_sentence(said: str) -> str:
    """Return the text without the sentence in which it was cut off; a single one ends with "…"."""
    sentences = cut_sentences(said)
    if not sentences or SENTENCE_END.search(sentences[-1]):
        return said
    return "".join(sentences[:-1]).strip() or f"{said}…"


def read_calls(text: str, names: Names, tools: Collection[str]) -> list[TextCall]:
    """Return the calls of these tools that the model wrote as text."""
    cleaner = AnswerCleaner(names, tools=tools)
    parts = [*cleaner.take(storable(text)), *cleaner.end()]
    return [part for part in parts if isinstance(part, TextCall) and part.name in tools]


def _find_choice(text: str) -> Words:
    """Return the choice of the last JSON object that is one, or the whole text as words if it contains no form.

    Of a form that is cut off or broken, return the words that are there; without any, silence.
    """
    for found in reversed(find_objects(text)):
        choice = _read_choice(found)
        if choice is not None:
            return choice
    if fields := _read_lines(text):
        return _read_choice(fields) or Words()
    if not FORM.search(text):
        return Words(text)
    found_text = OPEN_TEXT.search(text)
    if found_text is None or CHOSEN_SILENCE.search(text):
        return Words()
    is_whole = text.startswith('"', found_text.end())  # the form is broken elsewhere, e.g. by a line break
    said = found_text[1].replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
    return Words(said + ("" if is_whole else "…"))


def _read_lines(text: str) -> dict[str, Any]:
    """Return the fields of a form that is written in lines, "choice: speak" first; empty if the text is no such form."""
    found = list(FIELD_LINE.finditer(text))
    if not found or found[0].start() or found[0]["name"].lower() != "choice":
        return {}
    ends = [*(field.start() for field in found[1:]), len(text)]
    return {
        field["name"].lower(): text[field.end() : end].strip(' \n*_"“”')
        for field, end in zip(found, ends, strict=True)
    }


def _read_choice(found: dict[str, Any]) -> Words | None:
    """Return the choice that this object makes, or None if it is no choice. A tool call written as JSON may be one."""
    inner: dict[str, Any] = next(
        (found[name] for name in ("arguments", "parameters") if isinstance(found.get(name), dict)), {}
    )
    fields = {**found, **inner}
    named = [folded(str(fields[name])) for name in SILENT_FIELDS if name in fields]
    why = next((fields[name] for name in ("why", "reason") if isinstance(fields.get(name), str)), "")
    why = shorten(why.strip(), MAX_WHY_CHARACTERS)
    if any(name not in SPOKEN_NAMES for name in named) or fields.get("silent") is True:
        return Words(why=why)
    said = next((fields[name] for name in SPEAK_FIELDS if isinstance(fields.get(name), str)), None)
    if said is None:
        return Words(why=why) if named else None
    if folded(said).strip(" .") == EXAMPLE:
        return Words(why=why)
    feeling = fields.get("emotion")
    if isinstance(feeling, str) and feeling.strip():
        felt = Felt.parse(0, feeling)
        said = f"<emotion {felt.emotion} {felt.intensity:g}> {said}"
    return Words(said, why=why)


def clean_words(text: str) -> str:
    """Return the words, shortened to 4,000 characters; empty if they only say that nothing is said, or refuse to.

    "As Mira, I would write: …" is unwrapped, and lines of the prompt before it are left out.
    """
    copied = COPIED.match(text)
    words = _strip_lead(text[copied.end() :] if copied else text).strip()
    return "" if is_silence(words) or is_refusal(words) else shorten(words, MAX_CHARACTERS)


def _strip_lead(text: str) -> str:
    """Return the text without an introduction such as "I would write:", and without quotes that enclose all of it."""
    lead = pattern_of("would_write").match(text.strip())
    rest = text.strip()[lead.end() :].strip() if lead else text.strip()
    wrapped = WRAPPED.match(rest)
    return wrapped["text"] if wrapped else rest


def is_silence(text: str) -> bool:
    """Return whether the text is empty or only says that nothing is said, e.g. "(silence)" or "stay_silent"."""
    plain = EDGES.sub("", EDGES.sub("", folded(text[: 2 * MAX_SILENCE_CHARACTERS]).replace("_", " ")))
    if not has_words(plain):
        return not has_words(text)
    if len(text) > MAX_SILENCE_CHARACTERS:
        return False
    return " ".join(plain.split()) in _load_silences() or bool(pattern_of("stays_silent").match(plain))


@cache
def _load_silences() -> frozenset[str]:
    return frozenset(" ".join(folded(phrase).split()) for phrase in words_of("silences"))

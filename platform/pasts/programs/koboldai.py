"""Stories that KoboldAI Lite saves: one text in pieces, in which marks or names show who speaks.

Each turn begins with a mark in instruct mode and with a name in chat mode; in adventures ">" precedes the person's
actions. A story without any of these has no speakers and cannot be read.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pasts.collector import Collector
from pasts.json_scan import Piece, as_mapping, as_text
from pasts.past import MAX_MESSAGES, MAX_NAME, PastFormatError
from pasts.times import read_time

MAX_STORY = 20_000_000  # characters of the whole text
MAX_NAMES = 50
ADVENTURE = "2"
NAMES_BETWEEN = "||$||"
PERSON, CHARACTER = "User", "KoboldAI"  # if the file has no names
MARKS = {
    "{{[INPUT]}}": True,
    "{{[OUTPUT]}}": False,
    "{{[SYSTEM]}}": None,
    "{{[INPUT_END]}}": False,
    "{{[OUTPUT_END]}}": False,
    "{{[SYSTEM_END]}}": False,
}
# The settings that name a model's own marks, if the story uses these instead of MARKS.
OWN_MARKS = {"instruct_starttag": True, "instruct_endtag": False, "instruct_systag": None}
ACTION = re.compile(r"^> ?(.*)$", re.MULTILINE)
STAMP = re.compile(r"\[([^\]\n]{8,40})\]\s*")  # the time of writing, if the person had it inserted


class Turn(NamedTuple):
    """A turn of one side; `is_person` is None for text that nobody says, e.g. a system prompt."""

    speaker: str
    is_person: bool | None
    text: str


def is_story(keys: Iterable[str]) -> bool:
    """Return whether an object with these keys is a saved story."""
    found = set(keys)
    return "actions" in found and bool(found & {"gamestarted", "savedsettings"})


def read_story(collector: Collector, root: Piece) -> None:
    """Read the story. Raise PastFormatError, e.g. `no_speakers` if nobody speaks in it."""
    fields = dict(root.members())
    settings = as_mapping(fields["savedsettings"].load()) if "savedsettings" in fields else {}
    story = _strip_files(collector, _join(fields))
    people = _read_names(as_text(settings.get("chatname")))[:1] or [PERSON]
    characters = _read_names(as_text(settings.get("chatopponent"))) or [CHARACTER]
    leaf: str | None = None
    for number, turn in enumerate(_read_turns(story, settings, people, characters)):
        if number >= 2 * MAX_MESSAGES:
            raise PastFormatError("too_many_messages")
        if turn.is_person is None:
            collector.remarks.add("system_left_out")
            continue
        text, at = _read_stamp(turn.text.strip())
        given = collector.add(
            str(number), parent=leaf, speaker=turn.speaker, is_person=turn.is_person, text=text, at=at
        )
        leaf = given or leaf
    collector.end(title=characters[0], leaf=leaf)


def _join(fields: dict[str, Piece]) -> str:
    """Return the story's pieces joined. Raise PastFormatError `too_large` or `too_many_messages`."""
    pieces = [as_text(fields["prompt"].load())] if "prompt" in fields else []
    length = len("".join(pieces))
    for piece in fields["actions"].elements():
        pieces.append(as_text(piece.load()))
        length += len(pieces[-1])
        if length > MAX_STORY:
            raise PastFormatError("too_large")
        if len(pieces) > 2 * MAX_MESSAGES:
            raise PastFormatError("too_many_messages")
    return "".join(pieces)


def _strip_files(collector: Collector, story: str) -> str:
    """Return the story without pictures and sound, which are embedded in the text as [<|p|name|p|>]."""
    kept, at = [], 0
    while (start := story.find("[<|", at)) >= 0:
        kind = story[start + 3 : start + 4]
        end = story.find(f"|{kind}|>]", start + 4)
        if end < 0:
            break
        kept.append(story[at:start])
        at = end + 5
        collector.remarks.add("files_left_out")
    return "".join([*kept, story[at:]])


def _read_names(text: str) -> list[str]:
    names = (name.strip()[:MAX_NAME] for name in text[:20_000].split(NAMES_BETWEEN))
    return [name for name in names if name][:MAX_NAMES]


def _read_turns(
    story: str, settings: dict[str, Any], people: Sequence[str], characters: Sequence[str]
) -> Iterator[Turn]:
    """Return the turns, split at marks, names or actions. Raise PastFormatError `no_speakers` if there are none."""
    marks = _find_marks(story, settings)
    if marks:
        return _split_at_marks(story, marks, people, characters)
    if _match_names([*people, *characters]).search(story):
        return _split_at_names(story, people, characters)
    if str(settings.get("opmode")) == ADVENTURE and ACTION.search(story):
        return _split_at_actions(story, people[0], characters[0])
    raise PastFormatError("no_speakers")


def _find_marks(story: str, settings: dict[str, Any]) -> dict[str, bool | None]:
    """Return the marks that occur in the story: the program's own, otherwise those of its settings, if any."""
    if any(mark in story for mark in ("{{[INPUT]}}", "{{[OUTPUT]}}")):
        return MARKS
    own = {
        as_text(settings.get(key)).replace("\\n", "\n").strip()[:100]: is_person
        for key, is_person in OWN_MARKS.items()
    }
    own.pop("", None)
    return own if True in own.values() and any(mark in story for mark in own) else {}


def _split_at_marks(
    story: str, marks: dict[str, bool | None], people: Sequence[str], characters: Sequence[str]
) -> Iterator[Turn]:
    """Yield the turns between marks; text before the first mark is the character's."""
    named = _match_names([*people, *characters])
    is_person: bool | None = False
    pattern = re.compile("(" + "|".join(map(re.escape, sorted(marks, key=len, reverse=True))) + ")")
    at = 0
    for found in [*pattern.finditer(story), None]:
        text = story[at : found.start() if found else len(story)].strip()
        if text:
            speaker = (people if is_person else characters)[0]
            if is_person is not None and (name := named.match(text)):
                speaker, text = name[1], text[name.end() :]
            yield Turn(speaker, is_person, text)
        if found:
            is_person, at = marks[found.group()], found.end()


def _split_at_names(story: str, people: Sequence[str], characters: Sequence[str]) -> Iterator[Turn]:
    """Yield the turns by the names at the beginnings of lines; text before the first name is marked as nobody's."""
    begins = [*_match_names([*people, *characters]).finditer(story)]
    if story[: begins[0].start()].strip():
        yield Turn("", None, story[: begins[0].start()])
    for begin, following in zip(begins, [*begins[1:], None], strict=True):
        text = story[begin.end() : following.start() if following else len(story)]
        yield Turn(begin[1], begin[1] in people, text)


def _split_at_actions(story: str, person: str, character: str) -> Iterator[Turn]:
    at = 0
    for action in ACTION.finditer(story):
        yield Turn(character, False, story[at : action.start()])
        yield Turn(person, True, action[1])
        at = action.end()
    yield Turn(character, False, story[at:])


def _match_names(names: Sequence[str]) -> re.Pattern[str]:
    alternatives = "|".join(map(re.escape, sorted(set(names), key=len, reverse=True)))
    return re.compile(rf"^({alternatives}): ?", re.MULTILINE)


def _read_stamp(text: str) -> tuple[str, datetime | None]:
    """Return the text without the time at its beginning, and that time, or None if there is none."""
    found = STAMP.match(text)
    at = read_time(found[1]) if found else None
    return (text[found.end() :], at) if found and at else (text, None)

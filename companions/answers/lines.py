"""Clean the lines of an answer: remove speakers' labels, introductions, copied times and context, emotions in brackets
and stage directions. Pure.

An answer comes in pieces cut anywhere. The beginning of a line is held back while it may be a label. If the user's name
is not known, everything from a line that may be the user's turn is held back until that is clear.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

import regex

from companions.answers.emotion_tags import EMOTIONS, Felt
from companions.answers.markup import TextCall
from companions.answers.text_calls import read_function_call
from memory.language import words_of

MIN_NAME_CHARACTERS = 2  # of ASCII letters, since many a line begins with "A:"
MAX_DIRECTION_CHARACTERS, MAX_CALL_CHARACTERS = 160, 2000
ASSISTANTS = ("assistant", "{{char}}", "助手")
PERSONS = ("{{user}}", "<user>")
ROLES = ("user", "human", "用户", "人类")
# What the prompt calls a user without a name, also in its example dialogue.
NAMELESS = ("the person", "the user")
TITLE = r"\p{Lu}[\p{L}.-]{1,19}"  # or another word beside a name in a label, as in "Captain Noor: …"
NO_TITLE = (  # "Dear Noor: …" begins a letter, "Poor Noor: …" a sentence
    "dear|dearest|poor|my|our|your|the|to|for|from|by|with|of|and|but|or|oh|hey|hi|hello|only|just|love|meet|this|that"
)
TITLES_BEHIND = "船长|队长|医生|老师|博士|教授|将军|小姐|先生|女士|姐姐|妹妹|哥哥|弟弟"
SPEAKER = regex.compile(
    r"[^\S\n]{0,8}[*_]{0,3}(?:\p{Lu}[\p{L}'’-]{1,19}|\p{Han}{1,4})[*_]{0,3}[^\S\n]{0,2}[:：]"
)
FEELING = (
    r"(?:(?i:emotion|mood|feeling)\s{0,2}[:=]?\s{0,2})?"
    rf"(?P<name>(?i:{EMOTIONS}))(?P<rest>[\s:=,]{{0,3}}[\d.,]{{0,5}}%?)"
)
WEEKDAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
# As `text.dates` writes them. A day stands behind each line that is always in mind (`prompting.pinned_context`).
ISO_DAY = rf"(?:{WEEKDAY} )?\d{{4}}-\d\d-\d\d"
NAMED_DAY = rf"{WEEKDAY} \d{{1,2}} [A-Z][a-z]{{2}}(?: \d{{4}})?"
DAY = f"(?:{NAMED_DAY}|{ISO_DAY})"
BRACKET = regex.compile(  # a named day within a line may be an appointment
    rf"[\[【]\s?(?:{FEELING}|(?P<day>{ISO_DAY}))\s?[\]】]|\[(?P<day>{NAMED_DAY})\](?=[^\S\n]{{0,4}}\n)"
)
FIRST = regex.compile(
    rf"[^\S\n]{{0,8}}(?:[\[【(（]\s?{FEELING}\s?[\]】)）]"
    rf"|\*{{1,2}}\(?(?P<name>(?i:{EMOTIONS}))(?P<rest>[\s:=,]{{0,3}}[\d.,]{{0,5}}%?)\)?\*{{1,2}}(?!\w)"
    r"|[*_]{0,2}(?i:emotion)[*_]{0,2}\s?[:=][*_]{0,2}\s?"
    rf"(?P<name>(?i:{EMOTIONS}))(?P<rest>[\s:=,(]{{1,3}}[\d.,]{{1,5}}%?\)?)[^\S\n]{{0,4}}(?=\n|$))"
)
# The beginnings of the tool results in the history, with their keys in the tools' order and in that of jsonb. A JSON
# object that the user asked for may have a "text" or "state" too, so these count only with the key beside them.
TOLD_BY_TOOLS = (
    r'"(?:remembered|revised|proposed|noted|cancelled|not_done)": '
    r'|"slot": "[^\n]{0,500}", "remembered": "|"state": "[^\n]{0,500}", "proposed": "'
    r'|"text": "[^\n]{0,500}", "cancelled": "|"block": "[^\n]{0,500}", "full": "\d|"full": "\d+ of \d+ characters"'
    rf'|"when": "[^\n]{{0,500}}", "next": "(?:{WEEKDAY} )?\d{{4}}-'
    rf'|"next": "(?:{WEEKDAY} )?\d{{4}}-[^\n]{{0,20}}", (?:"text": "[^\n]{{0,1000}}", )?"when": "'
)
# The beginnings of the lines and lists that `prompting.turn_prompt.render_context` and `life.wakings.context` render,
# and of the directive and the notice in the history. The list of timers and that of what is open are left out, since
# the answers to questions after them look just like them; so are sentences that may be said of others. At the beginning
# of what a waking says, `life.wakings.answer` drops these.
CONTEXT_LINES = (
    rf"Now: {WEEKDAY}[a-z]+ \d",
    r"(?:You )?(?i:first) met: \d",
    "This talk began: ",
    "Last time you two talked: ",
    "This is your first conversation, and you are glad",
    "You [a-z ]{0,10}are on a call, and your answer is spoken aloud",
    "Your diary, of [A-Z]",
    r'It ended: [^\n:]{1,80} said: "',
    "How you feel inside, since ",
    "Your mood by now: ",
    r"The context is \d{1,3} % full: ",
    r"You write (?:again|to them first):(?=[^\S\n]*\n)",
    r"Answer as [^\n]{1,80} now, with an emotion tag first",
    "You woke by: (?:a |the )",
    r"They asked you for this: (?:yes|no)\b",
    'What for: "',
    "They last wrote: ",
    "You last wrote: ",
    "You may not write to them now: ",
    r"Missed before it: \d",
    rf"- \[{DAY}\] [^\n:]{{1,60}}: [\"“]",
)
CONTEXT_LIST = (
    r"(?:Just came to mind, unasked\. Speak of it only if|Open between you \(come back to it|Your notes of this talk:"
    r"|(?:What was said [^\n:]{1,30}|The last of your talk):"
    r"(?=[^\S\n]*\n(?:- \[(?:[^\]\n]{1,24}, )?\d\d:\d\d\]|\(the first \d))"
    r"|Your diary of [^\n:]{1,30}:(?=[^\S\n]*\n- [\"“]))"
    r"[^\n]{0,120}(?:\n(?:- |\(the first \d)[^\n]{0,600})*+"
)
COPIED = regex.compile(  # times as in `prompting.history.render_time`, lines of the context, results of tools
    rf"[^\S\n]{{0,8}}(?:(?:- )?\[{WEEKDAY} \d{{1,2}} [A-Z][a-z]{{2,8}}(?: \d{{4}})?, \d{{1,2}}:\d{{2}}\]"
    r"[^\S\n]{0,4}(?:You: )?"
    rf"|\[(?:{WEEKDAY} )?\d{{4}}-\d\d-\d\d \d\d:\d\d\][^\S\n]{{0,4}}"
    rf"|(?:{'|'.join(CONTEXT_LINES)})[^\n]{{0,4000}}|{CONTEXT_LIST}|Remembered:[^\S\n]*\n(?=- \[{DAY}\])"
    rf"|\{{(?:{TOLD_BY_TOOLS})[^\n]{{0,2000}}\}}(?=[^\S\n]*(?:\n|$)))"
)
FENCE = regex.compile(r"[ ]{0,3}(?:```|~~~)")
LABELLED = regex.compile(r"\s*(?:[-*•]\s+|\d+[.)]\s+)?[*_]{0,2}[\w'’ -]{1,30}[*_]{0,2}\s?[:：]")
ENDS_SENTENCE = '.!?…。！？~～”"」\n*'
NO_DEED = (
    r"(?!(?i:yes|this|always|perhaps|nothing|something|everything|anything|is|was|has|does|his|its|as|us)\b)"
)
DIRECTION = regex.compile(
    rf"\*(?!\s|\*)(?:{NO_DEED}(?:\p{{L}}+ly )?\p{{L}}+(?:s|ing)\b|\p{{Han}})"
    rf"[^*\n]{{0,{MAX_DIRECTION_CHARACTERS}}}\*(?!\*)[^\S\n]?"
    r"|（\p{Han}[^（）\n]{0,40}）[^\S\n]?"
)


Part = str | Felt | TextCall


@dataclass(frozen=True, slots=True)
class Names:
    """The names of companion and user. A companion with a nickname goes by both it and its name."""

    companion: str
    person: str
    nickname: str = ""


@lru_cache(maxsize=10)
def _compile_call(tools: tuple[str, ...]) -> "regex.Pattern[str] | None":
    """Return a pattern for a line that calls one of the tools in Python syntax, or None without any tools."""
    names = "|".join(map(regex.escape, tools))
    called = rf"(?P<call>(?:{names})\([^\n]{{0,{MAX_CALL_CHARACTERS}}}\))"
    return regex.compile(rf"[^\S\n]{{0,8}}`{{0,3}}{called}`{{0,3}}[^\S\n]{{0,8}}(?=\n|$)") if tools else None


@lru_cache(maxsize=500)
def _compile_label(names: Names, *, has_titles: bool = False) -> "regex.Pattern[str]":
    """Return a pattern for a label at a line's beginning, with a group for whose it is: `own`, `person` or `role`.

    If it `has_titles`, up to two capitalised words may stand before or after the own name, as long as what follows the
    colon does not begin in lower case.
    """
    own, person = _list_names(names.companion, names.nickname), _list_names(names.person)
    roles = ROLES if names.person.strip() else (*ROLES, *NAMELESS)
    groups = (("own", (*own, *ASSISTANTS)), ("person", (*person, *PERSONS)), ("role", roles))
    who = "|".join(f"(?P<{group}>{'|'.join(map(regex.escape, words))})" for group, words in groups)
    if has_titles and own:
        before = rf"(?!(?:{NO_TITLE})\b)(?-i:(?:{TITLE}[^\S\n]){{0,2}})"
        behind = rf"(?:{TITLES_BEHIND}|(?-i:(?:[^\S\n](?:the[^\S\n])?{TITLE}){{0,2}}))"
        begins = r"(?=[^:：\n]{0,50}[:：][*_]{0,2}[^\S\n]{0,4}+(?-i:\P{Ll}|$))"
        who += f"|(?P<own>{before}(?:{'|'.join(map(regex.escape, own))}){behind}){begins}"
    after = r"[*_\]]{0,3}(?:[^\S\n]?[(（][^()（）\n]{0,40}[)）])?[*_]{0,2}[^\S\n]{0,2}"
    titles = "instruction|response|assistant|user|human|system"
    heading = rf"(?P<heading>\#{{2,6}}[^\S\n]{{0,2}}(?:{titles})[^\S\n]{{0,2}}(?:[:：]|\n))"
    return regex.compile(
        rf"[^\S\n]{{0,8}}(?:{heading}|(?:\#{{1,6}}[^\S\n]{{0,2}})?[*_\[]{{0,3}}(?:{who}){after}[:：][*_]{{0,2}}[^\S\n]{{0,4}})",
        regex.IGNORECASE,
    )


@lru_cache(maxsize=500)
def _compile_preface(names: Names) -> "regex.Pattern[str] | None":
    """Return a pattern for the words by which a model introduces the companion's answer: "Here is Noor's reply:".

    Without the companion's name in it, such a line may be the companion's own.
    """
    own = "|".join(map(regex.escape, _list_names(names.companion, names.nickname)))
    prefaces = "|".join(words_of("prefaces")).replace("{name}", f"(?:{own})")
    after = r"[^\S\n]?[*_]{0,3}[:：][*_]{0,3}[^\S\n]{0,4}"
    return (
        regex.compile(rf"[^\S\n]{{0,8}}[*_]{{0,3}}(?:{prefaces}){after}", regex.IGNORECASE) if own else None
    )


def _list_names(*names: str) -> list[str]:
    """Return each name and its first word, longest first, without ASCII ones below `MIN_NAME_CHARACTERS`."""
    words = [word for name in names for word in (" ".join(name.split()), *name.split()[:1])]
    known = dict.fromkeys(word for word in words if len(word) >= MIN_NAME_CHARACTERS or not word.isascii())
    return sorted(filter(None, known), key=len, reverse=True)


def _may_grow(found: "regex.Match[str] | None", text: str, is_end: bool) -> bool:
    """Return whether text that is still to come may belong to what was found."""
    return found is not None and not is_end and (found.partial or found.end() == len(text))


class LineReader:
    """Reads text without labels, emotions, and tool calls on lines of their own from the pieces of one answer.

    `has_text` tells whether the answer has any text yet. `is_ended` is True once another speaker begins, which ends the
    answer.
    """

    def __init__(
        self,
        names: Names,
        has_text: Callable[[], bool],
        tools: Collection[str] = (),
        *,
        keeps_directions: bool = True,
    ) -> None:
        self._has_text, self._keeps_directions = has_text, keeps_directions
        self._label, self._titled_label = _compile_label(names), _compile_label(names, has_titles=True)
        self._call, self._preface = _compile_call(tuple(sorted(tools))), _compile_preface(names)
        self._is_nameless = not names.person.strip()
        self._held = self._blank = ""  # the beginning of a line, and the blank lines before it
        self.is_ended = False
        # the answer so far
        self._is_first = True  # nothing but labels and emotions came yet
        self._has_own_label = False  # a line began with the companion's own name
        self._doubtful: list[Part] | None = None  # all parts since a line that may be the nameless user's
        self._is_code = False  # the line belongs to a fence
        self._is_list = False  # the next line may be a labelled item of a list
        # the line so far
        self._line = ""  # its beginning and its end
        self._is_line_start = True  # its own text has not begun
        self._skips = False  # it is another speaker's
        self._has_gap = False  # whether to drop white space, since some precedes what was removed

    @property
    def holds_text(self) -> bool:
        """Return whether text is held back."""
        return bool(self._held.strip())

    def take(self, text: str) -> Iterator[Part]:
        """Yield the parts that are certain by now."""
        return self._read(text, is_end=False)

    def end(self, *, is_cut: bool = False) -> Iterator[Part]:
        """Yield what was held back, without blank lines at the end if the answer is cut."""
        yield from self._read("", is_end=True)
        if self._blank and not is_cut and not self.is_ended and not self._skips:
            yield self._blank

    def _read(self, piece: str, *, is_end: bool) -> Iterator[Part]:
        for part in self._find_parts(piece, is_end=is_end):
            if self._doubtful is None:
                yield part
            else:
                self._doubtful.append(part)
        if self._doubtful and (is_end or self.is_ended):
            yield from self._doubtful
            self._doubtful = None

    def _find_parts(self, piece: str, *, is_end: bool) -> Iterator[Part]:
        text, at = self._held + piece, 0
        self._held = ""
        while at < len(text) and not self.is_ended:
            before = at
            if self._is_line_start:
                found = self._find_line_start(text, at, is_end)
                if found is None:
                    break
                end, given = found
                if given is not None:
                    yield given
                at = end
                continue
            for part in self._read_line(text, at, is_end):
                if isinstance(part, int):
                    at = part
                elif not isinstance(part, str) or not self._skips:
                    yield part
            if at == before:
                break
        self._held = "" if self.is_ended else text[at:]

    def _find_line_start(self, text: str, at: int, is_end: bool) -> tuple[int, Part | None] | None:
        """Return where the line's own text begins, with an emotion or tool call before it, if any; None if more text is
        needed to decide.
        """
        if text[at] == "\n":
            self._add_blank()
            return at + 1, None
        fence = FENCE.match(text, at, partial=True)
        if fence and fence.partial and not is_end:
            return None
        if fence and not fence.partial:
            self._is_code = not self._is_code
        elif not self._is_code:
            call = self._call.match(text, at, partial=True) if self._call else None
            if _may_grow(call, text, is_end):
                return None
            if call and not call.partial and (read := read_function_call(call["call"])):
                return call.end(), TextCall(*read)
            copied = COPIED.match(text, at, partial=True)
            if _may_grow(copied, text, is_end):
                return None
            if copied and not copied.partial:
                return copied.end(), None
            if self._is_first and not self._has_text():
                found = FIRST.match(text, at, partial=True)
                if _may_grow(found, text, is_end):
                    return None
                if found and not found.partial and text[found.end() : found.end() + 1] != "(":
                    return found.end(), Felt.parse(0, f"{found['name']}{found['rest']}")
                preface = self._preface.match(text, at, partial=True) if self._preface else None
                if _may_grow(preface, text, is_end):
                    return None
                if preface and not preface.partial:
                    return preface.end(), None
            has_titles = self._has_own_label or (self._is_first and not self._has_text())
            label = (self._titled_label if has_titles else self._label).match(text, at, partial=True)
            if label and (label.partial or label["own"]) and _may_grow(label, text, is_end):
                return None  # after the own name, characters that belong to the label may follow
            if label and not label.partial and (end := self._take_label(label)) is not None:
                return end, None
            if self._is_nameless and self._has_own_label and not self._is_list and self._doubtful is None:
                speaker = SPEAKER.match(text, at, partial=True)
                if speaker and speaker.partial and not is_end:
                    return None
                self._doubtful = [] if speaker and not speaker.partial else None
        self._is_line_start = False
        self._line = ""
        return at, None

    def _take_label(self, label: "regex.Match[str]") -> int | None:
        """Return where the text after the label begins, or None if the line is an item of a list.

        Another speaker's label ends the answer or, if nothing was said before, has its line skipped.
        """
        heading = (label["heading"] or "").casefold()
        is_own = bool(label["own"]) or "response" in heading or "assistant" in heading
        if (label["role"] or (is_own and not self._is_first)) and self._is_list:
            return None
        is_begun = self._has_text() and not self._is_first
        is_assistant = bool(heading) or (label["own"] or "").casefold() in ASSISTANTS
        self._has_own_label = self._has_own_label or bool(label["own"])
        if is_own and self._doubtful is not None:  # so the doubtful line was the user's turn
            self._doubtful.clear()
            self.is_ended = True
        elif is_own and not (is_begun and is_assistant):
            self._skips = self._is_first = False
            self._is_line_start = False
            self._line = ""
        elif self._has_text() or is_begun:
            self.is_ended = True
        else:
            self._skips = True
            self._is_line_start = False
        return label.end()

    def _add_blank(self) -> None:
        self._blank += "\n" if self._has_text() else ""

    def _read_line(self, text: str, at: int, is_end: bool) -> Iterator[Part | int]:
        """Yield the line's text up to its end, or up to what may be an emotion in brackets or a stage direction; an int
        is the offset from which to read on.
        """
        newline = text.find("\n", at)
        until = len(text) if newline < 0 else newline
        place = at
        while not self._is_code and (place := self._find_sign(text, place, until)) < until:
            found = self._match(text, place, is_end=is_end or newline >= 0)
            if found is None:
                place += 1
                continue
            yield from self._give(text[at:place])
            yield place
            if found.partial:
                return
            if found.re is BRACKET and found["name"]:
                yield Felt.parse(0, f"{found['name']}{found['rest']}")
            self._has_gap = not (self._line + text[:at])[-1:].strip()
            at = place = found.end()
            yield at
        yield from self._give(text[at:until])
        yield until
        if newline >= 0:
            self._end_line()
            self._add_blank()
            self._is_line_start = True
            yield newline + 1

    def _find_sign(self, text: str, at: int, until: int) -> int:
        signs = "[【" if self._keeps_directions else "[【*（"
        places = [place for sign in signs if (place := text.find(sign, at, until)) >= 0]
        return min(places, default=until)

    def _match(self, text: str, at: int, *, is_end: bool) -> "regex.Match[str] | None":
        if text[at] in "[【":
            before = text[at - 1] if at else self._line[-1:]
            if before and (before.isalnum() or before in "]!`"):
                return None
            found = BRACKET.match(text, at, partial=True)
            if found and not found.partial and found.end() == len(text) and not is_end:
                return BRACKET.match(text[: found.end() - 1], at, partial=True)  # a link's address may come
            if found and not found.partial and text[found.end() : found.end() + 1] in ("(", ":", "["):
                return None
            if found and found["day"] and not (self._line + text[:at]).strip():
                return None  # a line may begin with a day
        else:
            said = (self._line + text[max(at - 10, 0) : at]).rstrip(" \t")
            if said and said[-1] not in ENDS_SENTENCE:
                return None
            found = DIRECTION.match(text, at, partial=True)
        return None if found and found.partial and is_end else found

    def _give(self, text: str) -> Iterator[str]:
        if self._has_gap:
            text = text.lstrip(" \t")
        if not text:
            return
        self._has_gap = False
        self._line = (self._line + text)[-200:] if len(self._line) < 200 else self._line[:100] + text[-100:]
        blank, self._blank = self._blank, ""
        if text.strip():
            self._is_first = False
        yield blank + text

    def _end_line(self) -> None:
        """Note whether the next line may belong to a list of labelled items."""
        line = self._line.strip()
        if line:
            self._is_list = line[-1] in ":：" or (self._is_list and bool(LABELLED.match(line)))
        self._line = ""

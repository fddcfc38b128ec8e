"""Separate markup that a model leaks from its text: template tokens, reasoning, Kith's own blocks, tool calls. Pure.

An answer comes in pieces cut anywhere. Code in a fence or in backticks stays as it is, except for Kith's blocks and
tool calls. If a model writes `{{user}}` or `{{char}}`, as in cards that it was trained on, the name replaces it.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import regex

from companions.answers.emotion_tags import EMOTIONS
from companions.answers.text_calls import ARGUMENTS, NAMES, find_words_behind, read_calls, read_function_calls
from providers.chat.events import Thought
from providers.tokens import CONTROL_TOKENS

MAX_FENCE_CHARACTERS = 12  # of backticks in a row
MAX_INLINE_CHARACTERS = 200  # how far the end of inline code is searched for
MAX_CALL_CHARACTERS = 40_000
MAX_BLOCK_CHARACTERS = 1000  # of a block of Kith's after the companion's words; a longer one ends the answer
CONTROL = "|".join(f"(?:{regex.escape(first)}{rest})" for first, rest in CONTROL_TOKENS)
KITH_TAG = r"<\s?/?\s?kith[-_][^<>\n]{0,120}>"
TAG = regex.compile(
    rf"(?P<kith>{KITH_TAG})"
    r"|(?P<thought>[<\[](?P<closes>/?)(?i:think|thinking|thought|reasoning)[>\]])"
    r"|(?P<call>(?i:<(?:tool_calls?|function_calls?|minimax:tool_call)>)|<function=[\w.-]{1,64}>|\[TOOL_CALLS\]"
    r"|<\|(?:python_tag|tool_call|tool_calls_section_begin)\|>|<｜tool▁calls?▁begin｜>)"
    rf"|(?P<feeling><(?i:{EMOTIONS})(?:[\s:=,]{{1,3}}[\d.,]{{1,5}}%?)?\s?/?>)"
    rf"|(?P<rest>(?i:</(?:tool_calls?|function_calls?|function|tool_response|{EMOTIONS})>))"
    rf"|(?P<token>{CONTROL}|<\s?\|?/?(?:im_start|im_end|eot_id|endoftext|end_of_turn|start_header_id|end_header_id)\|?>)"
)
TICKED = regex.compile(r"`(?P<tag><(?i:emotions?)\b[^`\n<>]{0,60}>)`")
SPECIAL = regex.compile(r"[<＜\[\]｜`~{]")
UNMISTAKABLE = regex.compile(
    r"(?i)<[|｜]\w|</?kith|</?think|</?tool_|<function=|\[/?INST|\[TOOL_|<(?:start|end)_of"
)
KITH_END = regex.compile(r"<\s?/\s?kith[-_][^<>\n]{0,120}>")
THOUGHT_END = regex.compile(r"(?i)[<\[](?P<closes>/?)(?:think|thinking|thought|reasoning)[>\]]")
ASIDE_END = regex.compile(r"(?i)[<\[]/(?:think|thinking|thought|reasoning)[>\]]")
CHANNEL_END = regex.compile(r"<\|(?P<closes>)(?:end|start|channel|return)\|>")
CALL_ENDS = {  # by the beginning of a call
    "<function=": regex.compile(r"(?i)</function>"),
    "<": regex.compile(r"(?i)</(?:tool_calls?|function_calls?|minimax:tool_call)>"),
    "[": regex.compile(r"</s>|<\|im_end\|>"),
}
CALL_KEYS = "name|function|function_name|tool|tool_name|action|type|id|arguments|parameters|tool_calls?"
PLACEHOLDER = regex.compile(r"(?i)\{\{\s?(?P<who>user|char|bot)\s?\}\}(?P<label>[*_]{0,3}\s?[:：])?")
MAX_LABEL_CHARACTERS = 5  # after a placeholder
ROLE = regex.compile(
    r"(?i)\s{0,40}(?P<role>assistant|model|bot|ai|system|user|human|tool|developer|ipython|analysis<\|message\|>|commentary|final)(?:\b|(?<=>))"
)
OWN_ROLES = {"assistant", "model", "bot", "ai", "final", "commentary"}
OTHERS = {
    "user", "system", "human", "tool", "developer", "environment", "observation", "tool_response", "tool_results",
    "inst", "sys", "/sys",
}  # fmt: skip
STARTS = {"im_start", "start_header_id", "start_of_turn", "turn", "start", "channel", "role_start"}
ENDS = {
    "im_end", "eot_id", "eom_id", "end_of_turn", "endoftext", "end_of_text", "end", "return", "endofturn", "/s", "eos",
    "eot", "eop", "end_of_sentence", "end_turn", "user_end", "assistant_end", "/inst", "eos_token", "e~", "endofprompt",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TextCall:
    """A tool call that a model wrote as text; `arguments` are JSON."""

    name: str
    arguments: str


Part = str | Thought | TextCall


class CallPatterns(NamedTuple):
    """How a call of one of the tools begins."""

    bare: "regex.Pattern[str]"  # as JSON with a key of calls, which may also be meant for the person
    sure: "regex.Pattern[str]"  # as JSON that names a tool
    whole: "regex.Pattern[str]"  # as JSON that names a tool, and has its arguments next
    fenced: "regex.Pattern[str]"  # as code in a fence


@lru_cache(maxsize=10)
def _compile_calls(tools: tuple[str, ...]) -> CallPatterns:
    named = "|".join(map(regex.escape, tools))
    keys = f"{CALL_KEYS}|{named}" if tools else CALL_KEYS
    key = rf'[\[{{]\s{{0,20}}(?:\{{\s{{0,20}})?"(?:{keys})"\s{{0,5}}:'
    # A list, or what stands behind words, is for the person unless it names a tool, and is shown as it comes.
    sure = rf'[\[{{]\s{{0,20}}(?:\{{\s{{0,20}})?"\w{{1,20}}"\s{{0,5}}:\s{{0,5}}"(?:{named})"'
    bare = rf'(?:\{{\s{{0,20}}"(?:{keys})"\s{{0,5}}:|{sure})'
    whole = (
        rf'\{{\s{{0,20}}"(?:{"|".join(NAMES)})"\s{{0,5}}:\s{{0,5}}"(?:{named})"\s{{0,5}},\s{{0,20}}'
        rf'"(?:{"|".join(ARGUMENTS)})"\s{{0,5}}:\s{{0,5}}[{{"]'
    )
    fenced = (
        r"(?P<ticks>`{3,12}|~{3,12})[ \t]{0,5}(?:(?i:tool_code)[ \t]{0,5}\r?\n"
        rf"|(?i:json|tool_calls?|tool|function|xml)?[ \t]{{0,5}}\r?\n\s{{0,40}}(?:{key}|<tool_call>|<function=))"
    )
    return CallPatterns(*map(regex.compile, (bare, sure, whole, fenced)))


class MarkupReader:
    """Reads the text, reasoning and tool calls of one answer from pieces cut anywhere.

    `tools` are the names by which code is recognised as a call; `has_text` tells whether the answer has any text yet;
    `companion` and `person` are the two names, or "".
    `is_ended` is True once another turn begins, which ends the answer.
    """

    def __init__(
        self, tools: Collection[str], has_text: Callable[[], bool], companion: str, person: str
    ) -> None:
        self._tools, self._has_text = tools, has_text
        self._calls = _compile_calls(tuple(sorted(tools)))
        self._companion, self._person = companion, person
        self._held = ""  # what may become a token
        self.is_ended = False
        # the text so far
        self._last = ""  # its last character
        self._is_blank_line = True  # whether its last line is blank
        self._has_gap = False  # whether a tag was removed after white space
        self._ticks = 0  # how many backticks opened the current inline code
        self._struck = 0  # how many <s> are open
        self._expects_role = False  # after a token that begins a turn
        self._reads_asides = True
        # what is read now: text, or a block up to its end
        self._read: Callable[[str, int, bool], Iterator[Part | int]] = self._read_text
        self._close = THOUGHT_END
        self._collected: list[str] = []
        self._size = self._depth = 0  # characters, and open brackets or tags, of the block

    def take(self, piece: str) -> Iterator[Part]:
        """Yield the parts that are certain by now; what may become a token is held back."""
        return self._run(piece, is_end=False)

    def end(self) -> Iterator[Part]:
        """Yield the text and tool calls that were held back."""
        yield from self._run("", is_end=True)
        if not self.is_ended:
            yield from self._give_collected()

    def _run(self, piece: str, *, is_end: bool) -> Iterator[Part]:
        text, at = self._held + piece, 0
        self._held = ""
        while at < len(text) and not self.is_ended:
            before, reader = at, self._read
            for part in reader(text, at, is_end):
                if isinstance(part, int):
                    at = part
                elif part:
                    yield part
            if at == before and self._read == reader:
                break
        self._held = text[at:] if not self.is_ended and not is_end else ""

    # -- text ----------------------------------------------------------------------------------------------------------

    def _read_text(self, text: str, at: int, is_end: bool) -> Iterator[Part | int]:
        """Yield text up to the first tag, or the parts that the tag means, and the offset from which to read on.

        Yield nothing if more text is needed to decide.
        """
        if self._expects_role:
            found = ROLE.match(text, at, partial=True)
            if found and found.partial and not is_end:
                return
            self._expects_role = False
            if found and not found.partial:
                yield self._take_role(found["role"].casefold(), found.end())
                return
        special = SPECIAL.search(text, at)
        place = special.start() if special else len(text)
        if place > at:
            yield self._note(text[at:place])
            yield place
            return
        sign = text[at]
        if sign in "`~":
            yield from self._read_ticks(text, at, is_end)
        elif sign in "{[":
            yield from self._read_bracket(text, at, is_end)
        else:
            yield from self._read_tag(text, at, is_end)

    def _take_role(self, role: str, end: int) -> int:
        if role.startswith("analysis"):
            self._close, self._read = CHANNEL_END, self._read_thought
        elif role not in OWN_ROLES:
            self.is_ended = True
        return end

    def _note(self, text: str) -> str:
        """Return the text, without white space doubled by a removed tag, and note whether its last line is blank.

        A newline ends inline code.
        """
        if self._has_gap:
            text = text.lstrip(" \t")
        if not text:
            return ""
        self._has_gap, self._last = False, text[-1]
        _before, newline, line = text.rpartition("\n")
        if newline:
            self._ticks, self._is_blank_line = 0, True
        self._is_blank_line = self._is_blank_line and not line.strip()
        return text

    def _read_ticks(self, text: str, at: int, is_end: bool) -> Iterator[Part | int]:
        ticked = TICKED.match(text, at, partial=True) if not self._ticks else None
        if ticked and ticked.partial and not is_end:
            return
        if ticked and not ticked.partial:
            yield ticked["tag"]
            yield ticked.end()
            return
        end = at
        while end < len(text) and text[end] == text[at] and end - at <= MAX_FENCE_CHARACTERS:
            end += 1
        count = end - at
        if end == len(text) and not is_end and count <= MAX_FENCE_CHARACTERS:
            return
        if count >= 3 and self._is_blank_line:
            found = self._calls.fenced.match(text, at, partial=True)
            if found and found.partial and not is_end:
                return
            closing = rf"\n[ ]{{0,3}}{regex.escape(text[at:end][:MAX_FENCE_CHARACTERS])}"
            if found and not found.partial and self._tools:
                self._close, self._read = regex.compile(rf"{closing}[`~]*"), self._read_fenced_call
                self._collect(text[at:end])
            else:
                self._close, self._read = regex.compile(f"{closing}|{KITH_TAG}"), self._read_fence
                yield self._note(text[at:end])
            yield end
            return
        if text[at] == "`":
            self._ticks = 0 if self._ticks == count else (self._ticks or count)
        yield self._note(text[at:end])
        yield end

    def _read_bracket(self, text: str, at: int, is_end: bool) -> Iterator[Part | int]:
        found = None
        if self._tools and self._is_blank_line:
            call = self._calls.sure if self._has_text() else self._calls.bare
            found = call.match(text, at, partial=True)
        elif self._tools and not self._ticks:  # within a line
            found = self._calls.whole.match(text, at, partial=True)
        if found and found.partial and not is_end:
            return
        if found and (not found.partial or self._is_call_begun(text, at)):
            self._read, self._depth = self._read_bare_call, 0
            yield at
            return
        if text[at] == "[":
            yield from self._read_tag(text, at, is_end)
            return
        named = PLACEHOLDER.match(text, at, partial=True) if not self._ticks else None
        if named and not is_end and (named.partial or len(text) - named.end() < MAX_LABEL_CHARACTERS):
            return
        name = ""
        if named and not named.partial and not named["label"]:  # LineReader reads labels
            name = self._person if named["who"].casefold() == "user" else self._companion
        yield self._note(name or "{")
        yield named.end() if named and name else at + 1

    def _read_tag(self, text: str, at: int, is_end: bool) -> Iterator[Part | int]:
        found = TAG.match(text, at, partial=True)
        if found is None or (found.partial and is_end and not UNMISTAKABLE.match(text, at)):
            yield self._note(text[at])
            yield at + 1
        elif found.partial:
            if is_end:
                yield len(text)
        elif self._ticks and (end := self._find_code_end(text, found.end(), is_end)) is not None:
            if end > at:
                self._ticks = 0
                yield self._note(text[at:end])
            yield end or at
        else:
            self._ticks = 0
            yield from self._take_tag(found)
            self._has_gap = not self._last.strip()
            yield found.end()

    def _find_code_end(self, text: str, at: int, is_end: bool) -> int | None:
        """Return where the inline code ends, 0 if more text is needed to decide, or None if it does not end."""
        stop = regex.compile(rf"(?<!`)`{{{self._ticks}}}(?!`)|\n").search(
            text, at, at + MAX_INLINE_CHARACTERS
        )
        if stop is None:
            return None if is_end or len(text) - at > MAX_INLINE_CHARACTERS else 0
        if stop[0] != "\n" and stop.end() == len(text) and not is_end:
            return 0  # another backtick may follow
        return None if stop[0] == "\n" else stop.end()

    def _take_tag(self, found: "regex.Match[str]") -> Iterator[Part]:
        tag = found[0]
        match found.lastgroup:
            case "feeling":
                yield f"<emotion {tag[1:].rstrip('/> ')}>"
            case "kith":
                inner = tag.strip("<> ").strip()
                if "emotion" in inner and not inner.startswith("/"):
                    yield f"<{inner[5:].rstrip('/')}>"
                elif not inner.startswith("/") and not inner.endswith("/"):
                    self._size, self._read = 0, self._read_block
            case "thought" | "closes":
                if found["closes"]:
                    return
                if self._is_blank_line:
                    self._close, self._read, self._depth = THOUGHT_END, self._read_thought, 1
                elif tag.startswith("["):  # an ordinary word in brackets
                    yield self._note(tag)
                elif self._reads_asides:
                    self._close, self._read = ASIDE_END, self._read_aside
            case "call":
                self._collect(tag)
                kind = "<function=" if tag.startswith("<function=") else tag[0]
                if kind == "<" and tag[1] in "|｜":
                    kind = "["
                self._close, self._read = CALL_ENDS[kind], self._read_call
            case "token" if tag == "<s>" and self._has_text():  # HTML's strikethrough
                self._struck += 1
                yield self._note(tag)
            case "token" if tag == "</s>" and self._struck:
                self._struck -= 1
                yield self._note(tag)
            case "token":
                self._take_token(tag)

    def _take_token(self, tag: str) -> None:
        """End the answer at a token of another's turn, or of the end or the beginning of a turn if the answer has text.

        Any other token is only removed.
        """
        name = regex.sub(r"[▁ ]", "_", tag.strip("<>＜＞[]|｜").casefold())
        if name in OTHERS:
            self.is_ended = True
        elif name in ENDS or name in OWN_ROLES:
            self.is_ended = self._has_text()
        elif name in STARTS:
            self.is_ended = self._has_text()
            self._expects_role = True

    # -- what is not text ----------------------------------------------------------------------------------------------

    def _find_end(self, text: str, at: int, is_end: bool) -> tuple[int, int, bool]:
        """Return where the block's content ends in the text, where to read on, and whether its end was found."""
        found = self._close.search(text, at, partial=True)
        if found is None or (found.partial and is_end):
            return len(text), len(text), False
        return found.start(), (found.start() if found.partial else found.end()), not found.partial

    def _read_thought(self, text: str, at: int, is_end: bool) -> Iterator[Part | int]:
        found = self._close.search(text, at, partial=True)
        if found is None or (found.partial and is_end):
            yield Thought(text[at:])
            yield len(text)
            return
        if found.start() > at:
            yield Thought(text[at : found.start()])
        if found.partial:
            yield found.start()
            return
        if self._close is CHANNEL_END:
            self._expects_role = found[0] in ("<|start|>", "<|channel|>")
            self._read = self._read_text
        else:
            self._depth += -1 if found["closes"] else 1
            if self._depth <= 0:
                self._read = self._read_text
        yield found.end()

    def _read_aside(self, text: str, at: int, is_end: bool) -> Iterator[Part | int]:
        """Read what may be reasoning in the middle of a line; if its tag is never closed, it is text after all."""
        until, end, is_closed = self._find_end(text, at, is_end)
        self._collect(text[at:until])
        if is_closed:
            yield Thought("".join(self._collected))
            self._drop_collected()
        yield end

    def _read_block(self, text: str, at: int, is_end: bool) -> Iterator[Part | int]:
        self._close = KITH_END
        _until, end, is_closed = self._find_end(text, at, is_end)
        self._size += end - at
        if is_closed:
            self._size, self._read = 0, self._read_text
        elif self._size > MAX_BLOCK_CHARACTERS and self._has_text():
            self.is_ended = True
        yield end

    def _read_call(self, text: str, at: int, is_end: bool) -> Iterator[Part | int]:
        _until, end, is_closed = self._find_end(text, at, is_end)
        self._collect(text[at:end])
        if is_closed:
            yield from self._give_calls()
        yield end

    def _read_bare_call(self, text: str, at: int, is_end: bool) -> Iterator[Part | int]:
        """Read a JSON value without any fence or tag, up to the bracket that closes it."""
        for sign in regex.finditer(r'\\.|"|[\[{]|[\]}]', text, pos=at, flags=regex.DOTALL):
            is_quoted = self._depth < 0
            if sign[0] == '"':
                self._depth = -self._depth
            elif not is_quoted and sign[0] in "[{":
                self._depth += 1
            elif not is_quoted and sign[0] in "]}":
                self._depth -= 1
                if self._depth <= 0:
                    self._collect(text[at : sign.end()])
                    yield from self._give_calls_or_text()
                    yield sign.end()
                    return
        end = len(text) - 1 if text.endswith("\\") and not is_end else len(text)
        self._collect(text[at:end])
        yield end

    def _read_fenced_call(self, text: str, at: int, is_end: bool) -> Iterator[Part | int]:
        until, end, is_closed = self._find_end(text, at, is_end)
        if is_closed and end == len(text) and not is_end:
            end, is_closed = until, False  # more of the fence may follow
        self._collect(text[at:end])
        if is_closed:
            yield from self._give_calls_or_text()
        yield end

    def _read_fence(self, text: str, at: int, is_end: bool) -> Iterator[Part | int]:
        """Read fenced code, which stays, except for Kith's own blocks."""
        found = self._close.search(text, at, partial=True)
        until = found.start() if found and not (found.partial and is_end) else len(text)
        if until > at:
            yield self._note(text[at:until])
        if found is None or found.partial:
            yield until
            return
        if found[0].startswith("\n"):
            self._read = self._read_text
            yield self._note(found[0])
        elif "/" not in found[0]:
            self._size, self._read = 0, self._read_block
        yield found.end()

    # -- what is collected ---------------------------------------------------------------------------------------------

    def _collect(self, text: str) -> None:
        self._size += len(text)
        if self._size <= MAX_CALL_CHARACTERS or self._read == self._read_aside:
            self._collected.append(text)

    def _drop_collected(self) -> None:
        self._collected, self._size, self._depth, self._read = [], 0, 0, self._read_text

    def _give_calls(self) -> list[Part]:
        source = "".join(self._collected)
        self._drop_collected()
        return [TextCall(name, arguments) for name, arguments in read_calls(source)]

    def _give_calls_or_text(self) -> list[Part]:
        """Return the tool calls in the collected code if all are known tools, or else the code as text.

        A call that is broken or was cut off is neither.
        """
        source = "".join(self._collected)
        calls = read_calls(source) or read_function_calls(source)
        self._drop_collected()
        if calls and all(name in self._tools for name, _arguments in calls):
            self._has_gap = not self._last.strip()
            return [TextCall(name, arguments) for name, arguments in calls]
        if not calls and self._is_call_begun(source, source.find("{")):
            return []
        return [self._note(source)]

    def _is_call_begun(self, text: str, at: int) -> bool:
        """Return whether an object names a tool and, as far as the text goes, has its arguments next."""
        if not self._tools or at < 0 or not self._calls.sure.match(text, at):
            return False
        return self._calls.whole.match(text, at, partial=True) is not None

    def _give_collected(self) -> Iterator[Part]:
        """Yield what was being read when the answer ended.

        An aside without an end is read again as text, and so are the words behind a broken call.
        """
        if self._read == self._read_aside:
            source = "".join(self._collected)
            self._drop_collected()
            self._reads_asides = False
            yield from self._run(source, is_end=True)
            if self.is_ended:
                return
        if self._read == self._read_call:
            yield from self._give_calls()
        elif self._collected:
            source = "".join(self._collected)
            is_bare = self._read == self._read_bare_call
            parts = self._give_calls_or_text()
            yield from parts
            if is_bare and not parts:
                yield from self._run(find_words_behind(source), is_end=True)

"""Tokens: counted without a tokeniser, made harmless where a chat template would read them, and noted as used."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from providers.chat.events import Messages, ToolCall

if TYPE_CHECKING:
    from providers.errors import ProviderError

T = TypeVar("T")

# One match is one token, so that counting is a single pass in C.
TOKEN = re.compile(
    r"[A-Za-z]{1,10}"
    r"|[0-9]{1,3}"
    r"|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]"  # Han, kana, Hangul
    r"|[^\W\d_A-Za-z\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,2}"  # letters of any other script
    r"|[^\sA-Za-z]"
)
MESSAGE_TOKENS = 4  # role and separators
ANSWER_TOKENS = 3  # what opens the answer
LETTERS_EACH = 4.4  # of a token of talk in Latin letters, with the blank after it


def estimate(text: str) -> int:
    """Return the text's tokens, about: a word of up to 10 Latin letters, a Han character, a mark count one each.

    Against MiniLM's own word pieces, on texts written for tests/providers/test_tokens.py: within 3 % for talk,
    diary, code and Chinese, 9 % too many for formal English, 1 % too many over all of these; German 35 % and
    Russian 43 % too few, since that English vocabulary cuts them smaller than chat models' vocabularies do.
    """
    return len(TOKEN.findall(text))


def estimate_of_size(letters: int, octets: int) -> int:
    """Return the tokens of a text of so many letters and bytes of UTF-8, about, where it need not be read.

    What is not ASCII takes a byte or two more: half of those bytes are its tokens, a Han character or two Cyrillic
    letters each. Of the rest, a token has LETTERS_EACH. Against `estimate`: within 7 % for talk, diary and German, 20 %
    too many for formal English.
    """
    others = (octets - letters) / 2
    return round(others + max(0, letters - others) / LETTERS_EACH)


def beginning(text: str, most: int) -> str:
    """Return the text, or where it has more than `most` tokens, about, its beginning and an ellipsis."""
    next_token = next(islice(TOKEN.finditer(text), most, None), None)
    return text if next_token is None else f"{text[: next_token.start()].rstrip()}…"


def keep_fitting(things: Iterable[T], tokens: int, count: Callable[[T], int]) -> list[T]:
    """Return those that fit, in their order; one that is too long makes room for the shorter ones after it."""
    kept = []
    for thing in things:
        if (needed := count(thing)) <= tokens:
            kept.append(thing)
            tokens -= needed
    return kept


def split(text: str, most: int, overlap: int) -> list[str]:
    """Return the text, or where it has more than `most` tokens, about, its parts, each begun `overlap` earlier."""
    starts = [match.start() for match in TOKEN.finditer(text)]
    parts, first = [], 0
    while len(starts) - first > most:
        last = _find_word_start(text, starts, first, first + most)
        parts.append(text[starts[first] : starts[last]].rstrip())
        first = max(_find_word_start(text, starts, first, last - overlap), first + 1)
    return [*parts, text[starts[first] :]] if parts else [text]


def _find_word_start(text: str, starts: Sequence[int], first: int, at: int) -> int:
    """Return the last token up to `at` with a space before it; `at` itself where a script writes without spaces."""
    spaced = (place for place in range(at, max(first, at - 40), -1) if text[starts[place] - 1].isspace())
    return next(spaced, at)


def estimate_messages(messages: Messages, tools: Messages = ()) -> int:
    """Return the tokens of a whole prompt as sent, about, with the tools that it offers."""
    count = ANSWER_TOKENS
    for message in messages:
        content = message.get("content")
        if isinstance(content, list):
            content = " ".join(part.get("text") or "" for part in content if isinstance(part, dict))
        count += MESSAGE_TOKENS + estimate(content or "")
        for call in message.get("tool_calls") or ():
            count += estimate(call["function"]["name"]) + estimate(call["function"]["arguments"])
    return count + (estimate(json.dumps(list(tools), ensure_ascii=False)) if tools else 0)


def estimate_answer(text: str, thought: str = "", calls: Iterable[ToolCall] = ()) -> int:
    """Return the tokens of what a model gave, about: answer, reasoning and tool calls."""
    count = estimate(text) + estimate(thought)
    return count + sum(estimate(call.name) + estimate(call.arguments) for call in calls)


# Control tokens of chat templates. A server that reads them in a message's text would take what a document says for the
# system's own words. Each is its first character and a pattern of what follows it, matched as the servers do: letter by
# letter. Full-width signs stand for plain ones in some tokenisers.
CONTROL_TOKENS = (
    # <|im_start|> ChatML, Qwen, Yi; <|eot_id|> Llama; <|user|> Phi, GLM; <|start|> Harmony; <|endoftext|> GPT
    ("<", r"[|｜][^\s<>＜＞|｜]{1,80}[|｜][>＞]"),
    ("＜", r"[|｜][^\s<>＜＞|｜]{1,80}[|｜][>＞]"),
    # <｜begin▁of▁sentence｜> DeepSeek, where blanks may stand for ▁; ｜DSML｜ in its calls of tools
    ("<", r"｜[^\n<>＜＞|｜]{1,80}｜[>＞]"),
    ("｜", r"DSML｜"),
    # <|turn> and <turn|> Gemma 4
    ("<", r"\|(?:turn|channel|think|image|audio|video|tool(?:_call|_response)?)>"),
    ("<", r"(?:turn|channel|image|audio|video|tool(?:_call|_response)?)\|>"),
    # <start_of_turn> Gemma; <bos> and its kin of many
    ("<", r"(?i:(?:start|end)_of_(?:turn|image|audio)>)"),
    ("<", r"(?i:/?(?:bos|eos|pad|unk)>)"),
    # <s> Llama, Mistral and all that began as SentencePiece
    ("<", r"/?s>"),
    # <<SYS>> Llama 2
    ("<", r"(?i:</?sys>>)"),
    # [INST] Llama 2 and Mistral
    ("[", r"/?INST\]"),
    ("[", r"/?(?:SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|MODEL_SETTINGS)\]"),
    ("[", r"/?(?:THINK|CALL_ID|ARGS|IMG|IMG_BREAK|IMG_END|AUDIO|BEGIN_AUDIO|PREFIX|MIDDLE|SUFFIX)\]"),
    # [gMASK]<sop> GLM; [BOS] Kimi, EXAONE
    ("[", r"(?:g|s)?MASK\]"),
    ("<", r"(?:sop|eop)>"),
    ("[", r"(?:BOS|EOS|EOT|PAD|UNK)\]"),
    # [|system|] EXAONE
    ("[", r"\|(?:system|user|assistant|tool|endofturn)\|\]"),
    # <BOS_TOKEN> Command R
    ("<", r"(?:BOS|EOS|EOP|PAD|UNK|MASK)_TOKEN>"),
    # <tool_call> and <think> Qwen, Hermes, GLM, DeepSeek; <arg_key> GLM
    ("<", r"(?i:/?(?:tool_calls?|tool_response|think|arg_key|arg_value)>)"),
    # ]~!b[ ]~b] [e~[ <minimax:tool_call> MiniMax
    ("]", r"~(?:!b\[|b\])"),
    ("[", r"e~\["),
    ("<", r"/?(?:minimax|seed):[a-z_]{1,40}>"),  # and <seed:bos> Seed
    # <extra_id_0> Nemotron, T5; <unused0> Gemma; <reserved_106> Baichuan
    ("<", r"(?i:(?:extra_id_|unused|reserved_|special_)\d{1,6}>)"),
)
# What follows is looked at and not taken, for a token may begin within another. One branch for each first character:
# between those the search runs in C, a millisecond for a long prompt.
CONTROL_TOKEN_START = re.compile(
    "|".join(
        f"{re.escape(first)}(?={'|'.join(rest for beginning, rest in CONTROL_TOKENS if beginning == first)})"
        for first in dict.fromkeys(first for first, _rest in CONTROL_TOKENS)
    )
)
NO_TEXT = frozenset({"role", "type", "image_url", "input_audio", "file"})  # of a message, or a part of one


def neutralise(text: str) -> str:
    """Return the text with a blank in each control token; what has none, or has been through here, stays as it is."""
    return CONTROL_TOKEN_START.sub(r"\g<0> ", text)


def neutralise_messages(messages: Messages) -> list[Mapping[str, Any]]:
    """Return the messages as they may be sent: no text in them is read as a control token."""
    return [_neutralise_fields(message) for message in messages]


def _neutralise_fields(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    neutral = {}
    for name, value in fields.items():
        if name == "arguments" and isinstance(value, str):
            neutral[name] = _neutralise_json(value)
        else:
            neutral[name] = value if name in NO_TEXT else _neutralise_value(value)
    return neutral


def _neutralise_value(value: Any) -> Any:
    if isinstance(value, str):
        return neutralise(value)
    if isinstance(value, Mapping):
        return _neutralise_fields(value)
    return [_neutralise_value(part) for part in value] if isinstance(value, list | tuple) else value


def _neutralise_json(text: str) -> str:
    r"""Return the arguments of a call, which a template may open: there "\u003cs>" is a token."""
    if "\\" in text:
        try:
            plain = json.dumps(json.loads(text), ensure_ascii=False)
        except (ValueError, RecursionError):
            plain = text
        if CONTROL_TOKEN_START.search(plain):
            return neutralise(plain)
    return neutralise(text)


@dataclass(frozen=True, slots=True)
class Metered:
    """One call: where, with which model, its tokens sent and received, how long it took, the error in which it ended."""

    provider: str
    model: str
    prompt_tokens: int
    is_estimated: bool
    milliseconds: int
    error: "ProviderError | None" = None
    completion_tokens: int = 0
    cached_tokens: int = 0


_meter: ContextVar[list[Metered] | None] = ContextVar("meter", default=None)


@contextmanager
def metered() -> Iterator[list[Metered]]:
    """Give the list of the calls that this thread makes within the block, noted as they end."""
    calls: list[Metered] = []
    token = _meter.set(calls)
    try:
        yield calls
    finally:
        _meter.reset(token)


def note(call: Metered) -> None:
    """Add the call to the open meter, if there is one."""
    calls = _meter.get()
    if calls is not None:
        calls.append(call)

"""Tokens: estimated without a tokeniser, neutralised if a chat template would interpret them, and metered by call."""

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
ANSWER_TOKENS = 3  # the tokens that open the answer
LETTERS_EACH = 4.4  # characters per token of talk in Latin letters, counting the space after a word


def estimate(text: str) -> int:
    """Estimate the text's tokens: a word of up to 10 Latin letters, a Han character, a punctuation mark count one each.

    Against MiniLM's own word pieces, on texts written for tests/providers/test_tokens.py: within 3 % for talk,
    diary, code and Chinese, 9 % too many for formal English, 1 % too many over all of these; German 35 % and
    Russian 43 % too few, since that English vocabulary cuts them smaller than chat models' vocabularies do.
    """
    return len(TOKEN.findall(text))


def estimate_of_size(letters: int, octets: int) -> int:
    """Estimate the tokens of a text from its length in characters and in bytes of UTF-8, without reading it.

    A character outside ASCII takes a byte or two more: half of those bytes are its tokens, one for a Han character or
    two Cyrillic letters. The rest has a token for LETTERS_EACH characters. Against `estimate`: within 7 % for talk,
    diary and German, 20 % too many for formal English.
    """
    others = (octets - letters) / 2
    return round(others + max(0, letters - others) / LETTERS_EACH)


def beginning(text: str, most: int) -> str:
    """Return the text, cut after `most` tokens (estimated) with an ellipsis if it has more."""
    next_token = next(islice(TOKEN.finditer(text), most, None), None)
    return text if next_token is None else f"{text[: next_token.start()].rstrip()}…"


def keep_fitting(things: Iterable[T], tokens: int, count: Callable[[T], int]) -> list[T]:
    """Return the things that fit into `tokens` together, in order; one that does not fit is skipped."""
    kept = []
    for thing in things:
        if (needed := count(thing)) <= tokens:
            kept.append(thing)
            tokens -= needed
    return kept


def split(text: str, most: int, overlap: int) -> list[str]:
    """Return the text in parts of at most `most` tokens (estimated), each overlapping the last by about `overlap`."""
    starts = [match.start() for match in TOKEN.finditer(text)]
    parts, first = [], 0
    while len(starts) - first > most:
        last = _find_word_start(text, starts, first, first + most)
        parts.append(text[starts[first] : starts[last]].rstrip())
        first = max(_find_word_start(text, starts, first, last - overlap), first + 1)
    return [*parts, text[starts[first] :]] if parts else [text]


def _find_word_start(text: str, starts: Sequence[int], first: int, at: int) -> int:
    """Return the index of the last token up to `at` that follows a space, or `at` if no space is near."""
    spaced = (place for place in range(at, max(first, at - 40), -1) if text[starts[place] - 1].isspace())
    return next(spaced, at)


def estimate_messages(messages: Messages, tools: Messages = ()) -> int:
    """Estimate the tokens of a whole prompt as it is sent, with the tools that it offers."""
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
    """Estimate the tokens of a model's output: answer, reasoning and tool calls."""
    count = estimate(text) + estimate(thought)
    return count + sum(estimate(call.name) + estimate(call.arguments) for call in calls)


# Control tokens of chat templates. A server that interprets them in a message's text would take what a document says
# for the system's own words. Each is given as its first character and a pattern of the rest, and matched literally, as
# servers do. Some tokenisers read full-width signs as plain ones.
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
# The rest is a lookahead, since a token may begin within another. There is one branch for each first character, so that
# the search between those runs in C: a long prompt takes a millisecond.
CONTROL_TOKEN_START = re.compile(
    "|".join(
        f"{re.escape(first)}(?={'|'.join(rest for beginning, rest in CONTROL_TOKENS if beginning == first)})"
        for first in dict.fromkeys(first for first, _rest in CONTROL_TOKENS)
    )
)
# Tags of Unicode, which no page shows and models read as ASCII, except those of a flag, such as Scotland's. Looking for
# one first takes a tenth of the time.
TAG = re.compile("[\U000e0000-\U000e007f]")
FLAG_OR_TAGS = re.compile("(\U0001f3f4[\U000e0030-\U000e007a]{4,6}\U000e007f)|[\U000e0000-\U000e007f]+")
NO_TEXT = frozenset({"role", "type", "image_url", "input_audio", "file"})  # fields that are not neutralised


def neutralise(text: str) -> str:
    """Return the text with a space inserted into each control token, and without tags that nobody sees.

    Text without any, or neutralised before, stays.
    """
    if TAG.search(text):
        text = FLAG_OR_TAGS.sub(r"\1", text)
    return CONTROL_TOKEN_START.sub(r"\g<0> ", text)


def neutralise_messages(messages: Messages) -> list[Mapping[str, Any]]:
    """Return the messages with all their text neutralised, so that no server finds a control token in it."""
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
    r"""Return a tool call's arguments, neutralised also where a template would decode them: "\u003cs>" is "<s>"."""
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
    """One call of a provider: its address, model, tokens sent and received, duration, and error if it failed.

    Of a chat model, also the messages as `sent`, and what was `received`: `text`, `thought` and `calls`, if any.
    """

    provider: str
    model: str
    prompt_tokens: int
    is_estimated: bool
    milliseconds: int
    error: "ProviderError | None" = None
    completion_tokens: int = 0
    cached_tokens: int = 0
    sent: Sequence[Mapping[str, Any]] | None = None
    received: Mapping[str, Any] | None = None


_meter: ContextVar[list[Metered] | None] = ContextVar("meter", default=None)


@contextmanager
def metered() -> Iterator[list[Metered]]:
    """Yield a list to which each call that this thread makes within the block is added when it ends."""
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

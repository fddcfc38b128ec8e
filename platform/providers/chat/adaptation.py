"""What a chat server does not accept, as its error messages say, and the request adapted to that."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from providers.chat.events import Messages
from providers.chat.sampling import Sampling
from providers.errors import ProviderError
from providers.tokens import estimate_messages

REFUSING_STATUSES = {400, 404, 405, 413, 415, 422, 500, 501}
# Parts of the body that may be left out, and how servers say that they do not accept them.
REFUSALS = {
    "stream_options": re.compile(r"(?i)stream_options|include_usage"),
    "response_format": re.compile(
        r"(?i)response.?format|json.?schema|structured.(?:output|answer|generation)|guided.(?:json|decoding)|grammar"
    ),
    "tools": re.compile(
        r"(?i)(?:not|n't|no\b.{0,20}) support(?:s|ed)?\b.{0,40}\b(?:tools?|functions?)\b"
        r"|\b(?:tools?|function.call\w*|tool.choice)\b.{0,40}\b(?:not|un)[ -]?(?:supported|enabled|allowed)"
        r"|(?:unknown|unrecogni[sz]ed|unexpected|unsupported|extra)\b.{0,60}\btools?\b"
        r"|\btools?\b.{0,60}(?:extra inputs|not permitted)|tool.use\b.{0,20}support"
        r"|requires? --(?:jinja|enable-auto-tool-choice)"
    ),
    "presence_penalty": re.compile(r"(?i)\bpresence.?penalty\b|\bpenalt(?:y|ies)\b"),
    "frequency_penalty": re.compile(r"(?i)\bfrequency.?penalty\b|\bpenalt(?:y|ies)\b"),
    "stop": re.compile(r"(?i)['\"`]stop['\"`]|\bstop[ _-]?(?:words?|strings?|sequences?|tokens?)\b|: stop\b"),
    **{
        name: re.compile(rf"(?i)\b{name}\b")
        for name in (
            *("max_tokens", "max_completion_tokens", "temperature", "top_p", "top_k", "min_p", "seed"),
            *("repetition_penalty", "repeat_penalty"),
            *("dry_multiplier", "dry_penalty_last_n", "dry_sequence_breakers"),
        )
    },
}
WANTED_ROLES = (
    r"(?i)alternat|(?:start|begin)s? with (?:a |the )?['\"`]?user|first (?:non-system )?message (?:must|should|role)"
    r"|consecutive (?:user|assistant|messages|roles)|same role|last message (?:must|should|role)"
    r"|(?:only one|a single|multiple|more than one) system"
    r"|system (?:message|prompt|role)s?.{0,20}(?:beginning|first|start)"
    r"|after the optional system|expected.{0,20}role"
)
# How servers say that they want other messages: `roles` that alternate, beginning with the user's, after one system
# message; no `system` message at all; or no tool `calls` earlier in the talk.
ORDERS = {
    "system": re.compile(
        r"(?i)system.{0,5}(?:role|messages?|prompts?|instructions?)?.{0,20}"
        r"(?:not|n't|un)[ -]?(?:be )?(?:support|allow|enabled)"
        r"|(?:not|n't) support.{0,20}\bsystem|(?:invalid|unexpected|unknown|unsupported).{0,12}role.{0,8}\bsystem"
        r"|only (?:the )?user,? (?:and )?(?:assistant|model)\b.{0,30}roles"
    ),
    "roles": re.compile(WANTED_ROLES),
    "calls": re.compile(
        rf"{WANTED_ROLES}|\brole.{{0,20}}\btool\b|\btool\b.{{0,20}}\brole|\bonly (?:the )?user\b"
        r"|tool.?call.{0,12}\bids?\b|single tool.?call|number of (?:function|tool) calls"
        r"|tool_calls?\b.{0,40}(?:must|should|follow|preced)|(?:must|should|follow|preced).{0,40}tool_calls?\b"
        r"|tool.?(?:use|calling|config)\b.{0,80}\b(?:without|must|defin)"  # if the request offers no tools
    ),
}
TOO_LONG = re.compile(
    r"(?i)context.(?:length|size|window)|maximum context|context_length|prompt is too long|too many (?:input )?tokens"
    r"|(?:prompt|input)\b.{0,20}too (?:long|large)|input.length|reduce the length|\bn_ctx\b|num_ctx|max_model_len"
    r"|exceeds? .{0,30}(?:max(?:imum)?|limit).{0,20}tokens|tokens? limit exceeded|longer than the (?:maximum|model)"
    r"|max_new_tokens.{0,12} must be <=|上下文|超过.{0,12}最大.{0,4}长度"
)
LIMITS = (  # the limit of tokens, as servers state it
    re.compile(
        r"(?i)(?:context (?:length|size|window)|\bn_ctx|num_ctx|max_model_len|must be <=)\D{0,24}?(\d[\d,]{2,})"
    ),
    re.compile(
        r"(?i)> ?(\d[\d,]{2,})(?: tokens)? ?(?:maximum|limit)|(?:maximum|limit|最大)\D{0,24}?(\d[\d,]{2,})"
    ),
)
SENT = re.compile(  # how many tokens the prompt had
    r"(?i)(\d[\d,]{2,})(?: tokens)? (?:of text )?(?:in|from) (?:the|your) (?:messages|prompt|input)"
    r"|(\d[\d,]{2,}) `?input`?s? tokens"
    r"|(?:request|prompt|input) ?\((\d[\d,]{2,})|n_prompt_tokens\D{1,4}(\d[\d,]{2,})|too long: (\d[\d,]{2,})"
    r"|(\d[\d,]{2,}) `inputs`|resulted in (\d[\d,]{2,})"
)
MAX_SHORTENINGS = 3
SHORTER = 0.7  # of the prompt's tokens, if the server states no limit
MARGIN = 0.95
MIN_ANSWER_TOKENS = 64
SPOKE_FIRST = "Before the person wrote anything, you had said:"


@dataclass(frozen=True, slots=True)
class Adaptation:
    """What is known of a server: which keys of REFUSALS and ORDERS it refused, and the `room` for a prompt, in
    estimated tokens. The room is known only until `room_until`, since the server may be given a larger context.
    """

    refused: frozenset[str] = frozenset()
    room: int | None = None
    room_until: float = 0.0  # in seconds of the client's clock

    def without(self, part: str) -> "Adaptation":
        return replace(self, refused=self.refused | {part})

    def at(self, now: float) -> "Adaptation":
        """Return what still holds at the time `now`."""
        return self if now < self.room_until else Adaptation(self.refused)

    def merge(self, other: "Adaptation") -> "Adaptation":
        """Return what either knows; of two rooms, the smaller one."""
        rooms = [(each.room, each.room_until) for each in (self, other) if each.room]
        return Adaptation(self.refused | other.refused, *min(rooms, default=(None, 0.0)))


def build_body(
    model: str,
    messages: Messages,
    tools: Messages,
    form: Mapping[str, Any] | None,
    sampling: Sampling,
    refused: frozenset[str],
) -> dict[str, Any]:
    """Return the body of a streaming request, adapted to what the server refused."""
    optional: dict[str, Any] = {"stream_options": {"include_usage": True}, **sampling.as_fields()}
    if "max_tokens" in refused and "max_tokens" in optional:
        optional["max_completion_tokens"] = optional["max_tokens"]
    if tools:
        optional["tools"] = list(tools)
    if form:
        optional["response_format"] = dict(form)
    kept = {name: part for name, part in optional.items() if name not in refused}
    return {"model": model, "messages": arrange(messages, refused), "stream": True} | kept


def find_refused_part(error: ProviderError, body: Mapping[str, Any], refused: frozenset[str]) -> str:
    """Return the key of ORDERS or REFUSALS that the error is about, if the request can do without; otherwise ""."""
    if error.status not in REFUSING_STATUSES:
        return ""
    for part, refusal in ORDERS.items():
        if refusal.search(error.said) and arrange(body["messages"], refused | {part}) != body["messages"]:
            return part
    parts = (part for part, refusal in REFUSALS.items() if part in body and refusal.search(error.said))
    return next(parts, "")


# -- the order of messages


def arrange(messages: Messages, refused: frozenset[str]) -> Messages:
    """Return the messages arranged for what the server refused; unchanged if it refused nothing that concerns them.

    If it refused `tools` or `calls`, earlier tool calls are left out. If it refused `roles` or `system`, one system
    message comes first, or stands within the user's first message for `system`; then the roles alternate, beginning
    with the user's. What the assistant said before that is told in the system message.
    """
    if refused & {"tools", "calls"}:
        messages = _leave_out_earlier_calls(messages)
    if not refused & {"system", "roles"}:
        return list(messages)
    system_texts = [str(message["content"]) for message in messages if message["role"] == "system"]
    rest = [message for message in messages if message["role"] != "system"]
    begins = next((at for at, message in enumerate(rest) if message["role"] == "user"), 0)
    if early := [
        str(message["content"])
        for message in rest[:begins]
        if message["role"] != "tool" and message.get("content")
    ]:
        system_texts.append("\n".join([SPOKE_FIRST, *early]))
    arranged = merge_roles(rest[begins:])
    system = "\n\n".join(system_texts)
    if not system:
        return arranged
    if "system" not in refused:
        return [{"role": "system", "content": system}, *arranged]
    if arranged and arranged[0]["role"] == "user":
        first = {**arranged[0], "content": f"{system}\n\n{arranged[0]['content']}"}
        return [first, *arranged[1:]]
    return [{"role": "user", "content": system}, *arranged]


def _leave_out_earlier_calls(messages: Messages) -> Messages:
    """Return the messages without the tool calls before the user's last message, and without their results."""
    last = _find_last_asked(messages)
    return [
        message
        for at, message in enumerate(messages)
        if at > last or (message["role"] != "tool" and not message.get("tool_calls"))
    ]


def _find_last_asked(messages: Messages) -> int:
    return max((at for at, message in enumerate(messages) if message["role"] == "user"), default=0)


def merge_roles(messages: Messages) -> list[dict[str, Any]]:
    """Return the messages with neighbouring ones of the user or the assistant joined; tool calls stay apart."""
    merged: list[dict[str, Any]] = []
    for message in messages:
        before = merged[-1] if merged and message["role"] in ("user", "assistant") else None
        if before and _is_plain(before) and _is_plain(message) and before["role"] == message["role"]:
            merged[-1] = {**before, "content": f"{before['content']}\n\n{message['content']}"}
        else:
            merged.append(dict(message))
    return merged


def _is_plain(message: Mapping[str, Any]) -> bool:
    return isinstance(message.get("content"), str) and not message.get("tool_calls")


# -- the length of a prompt


def is_too_long(error: ProviderError) -> bool:
    """Return whether the server says that the prompt does not fit into its model's context."""
    return error.status in REFUSING_STATUSES and bool(TOO_LONG.search(error.said))


def read_room(error: ProviderError, messages: Messages, tools: Messages, sampling: Sampling) -> int:
    """Return how many estimated tokens the prompt may have, according to the server's error."""
    estimated = estimate_messages(messages, tools)
    limit, sent = _read_numbers(error.said)
    if not limit:
        return int(estimated * SHORTER)
    left = limit - min(sampling.max_tokens or 0, limit // 2)
    room = left * (estimated / sent if sent else 1.0) * MARGIN
    return int(min(room, estimated * MARGIN))


def lower_max_tokens(error: ProviderError, sampling: Sampling) -> Sampling | None:
    """Return the sampling with `max_tokens` lowered to what the server has left, or None if that does not help."""
    limit, sent = _read_numbers(error.said)
    left = limit - sent if limit and sent else 0
    if left < MIN_ANSWER_TOKENS or not sampling.max_tokens or sampling.max_tokens <= left:
        return None
    return replace(sampling, max_tokens=left)


def _read_numbers(said: str) -> tuple[int, int]:
    """Return the model's limit of tokens and the prompt's tokens, as the server states them; 0 for what it does not."""
    limit = next((found for pattern in LIMITS if (found := pattern.search(said))), None)
    sent = SENT.search(said)
    return _as_number(limit), _as_number(sent)


def _as_number(found: "re.Match[str] | None") -> int:
    digits = next(filter(None, found.groups()), "") if found else ""
    return int(digits.replace(",", "")[:9] or 0)


def shorten_history(messages: Messages, tools: Messages, tokens: int) -> Messages | None:
    """Return the messages without the oldest, at least one, until about `tokens` are left.

    System messages, the user's last message and all after it are kept; a tool's result goes with its call. Return None
    if there is nothing to leave out.
    """
    last = _find_last_asked(messages)
    older = [at for at in range(last) if messages[at]["role"] != "system"]
    if not older:
        return None
    left = estimate_messages(messages, tools)
    gone: set[int] = set()
    for at in older:
        if left <= tokens and gone and messages[at]["role"] != "tool":
            break
        left -= estimate_messages([messages[at]])
        gone.add(at)
    return [message for at, message in enumerate(messages) if at not in gone]

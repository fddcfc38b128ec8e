"""The history in a prompt: which messages of the session are sent, and how, with the tool calls and emotions of the
companion's answers and the time after a pause.

A message is rendered the same way every turn, so that the prefix of the prompt stays the same.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from types import MappingProxyType
from typing import Any, TypeVar

from companions.conversations.messages import Spoken
from companions.models import Message
from providers.tokens import MESSAGE_TOKENS, beginning, estimate, estimate_messages
from text.strings import block, neutral, one_line, quoted, shorten

Line = dict[str, object]
RESTED = timedelta(hours=1)  # a silence after which the prompt tells the time
MAX_TAGS = 4  # of one answer
QUOTE_TOKENS = 200
WHOSE = {
    Message.Role.USER: "they said",
    Message.Role.ASSISTANT: "you said",
    Message.Role.SYSTEM: "Kith told them",
}
TIME_TOKENS = 9  # "[Tue 24 Nov, 18:20]"
UNANSWERED = "{time} You write again:"  # no reproach: it stands before reminders, too
UNASKED = "{time} You write to them first:"  # at the beginning; a reminder was asked for
UNANSWERED_TOKENS = TIME_TOKENS + 20 + MESSAGE_TOKENS
# How many messages leave the window at once: between two such steps the beginning of the prompt stays the same.
MOVES_BY = (16, 8, 4)
# How much of a session goes into the prompt. Each step: above this pressure (the share of the context that the last
# prompt took), so many more of the oldest messages are left out; a negative number brings messages back. The steps are
# those of DigitalLife; the recovery at or below 0.60 is that of BenjiMemoryPkg. The summary covers what is left out.
WINDOW_STEPS = ((0.95, 4), (0.90, 3), (0.85, 2), (0.80, 1), (0.75, 0), (0.70, -1), (0.65, -2), (0.60, -3))
WINDOW_RECOVERY = -4
PICTURES = "With this came pictures that you cannot see, only their file names: {named}. Never claim to have seen them."
TEXTS = "With this came texts: {named}. You can look up what kith-texts does not show of them."
T = TypeVar("T")


def render_history(
    history: Sequence[Spoken], zone: tzinfo, notes: Mapping[int, Sequence[Line]] = MappingProxyType({})
) -> list[Line]:
    """Return the messages (given oldest first) as they are sent, with a card's notes among them.

    A key of `notes` is how many messages follow the notes, counted with the newest message, which is not in `history`.
    The tool calls of an answer stand before it, except for the first message of the window. Before an unprompted
    message that comes first, or follows another of the companion's, stands a notice with the time: many chat templates
    require alternating roles, and the companion's own messages bear no times. Of the same reminder again and again, the
    last is sent.
    """
    lines: list[Line] = []
    before: Spoken | None = None
    count = len(history) + 1
    for place, said in enumerate(history):
        lines += notes.get(count - place, ())
        text = render_said(neutral(show_emotions(said.text, said.emotions)), said.quoted, said.files)
        if said.role == Message.Role.SYSTEM:  # a notice of Kith's own: the companion has not said it
            following = history[place + 1] if place + 1 < len(history) else None
            if following is None or (following.role, following.text) != (said.role, said.text):
                notice = block("notice", [f"Kith told the person: {quoted(said.text)}"])
                lines.append({"role": Message.Role.USER.value, "content": notice})
            before = said
            continue
        is_own = said.role == Message.Role.ASSISTANT
        time = render_time(said.said_at, zone)
        if is_own and (before.role == said.role if before else said.is_unprompted):
            notice = block("notice", [(UNANSWERED if before else UNASKED).format(time=time)])
            lines.append({"role": Message.Role.USER.value, "content": notice})
        lines += render_deeds(said) if before else []
        has_rested = before is not None and said.said_at - before.said_at >= RESTED
        lines.append({"role": said.role, "content": f"{time}\n{text}" if has_rested and not is_own else text})
        before = said
    return lines


def render_time(at: datetime, zone: tzinfo) -> str:
    """Return when something was said, as day and time in `zone`, in few tokens."""
    return f"[{at.astimezone(zone):%a %d %b, %H:%M}]"


def render_said(text: str, quote: Mapping[str, str] | None, files: Sequence[tuple[str, bool]]) -> str:
    """Return the text of a message, after the message that it quotes and before a notice of its files.

    The model is not shown the files themselves; `files` are their names, each with whether it is a picture.
    """
    parts = [text]
    if quote:
        whose, words = WHOSE[Message.Role(quote["role"])], quoted(beginning(quote["text"], QUOTE_TOKENS))
        parts.insert(0, block("quoted", [f"They answer to what {whose} before: {words}"]))
    told = []
    for form, wanted in ((PICTURES, True), (TEXTS, False)):
        if names := [quoted(one_line(name)) for name, is_picture in files if is_picture == wanted]:
            told.append(form.format(named=", ".join(names)))
    return "\n".join([*parts, block("notice", told)] if told else parts)


def show_emotions(text: str, emotions: Sequence[Mapping[str, object]]) -> str:
    """Return the text with its first MAX_TAGS emotions put back as tags in their places."""
    parts, end = [], 0
    for emotion in emotions[:MAX_TAGS]:
        at = int(str(emotion["at"]))
        if not end <= at < len(text):
            break
        parts += [text[end:at], f"<emotion {emotion['emotion']} {float(str(emotion['intensity'])):g}> "]
        end = at
    return "".join([*parts, text[end:]])


def choose_newest(messages: Sequence[Spoken], tokens: int, cut_to: int = 0) -> list[Spoken]:
    """Return, oldest first, the newest of the messages (given newest first) that fit in so many tokens.

    Of a message that does not fit, the first `cut_to` tokens are tried, so that a long one, as a pasted text, does not
    keep all that was said before it out of the prompt.
    """
    kept: list[Spoken] = []
    for message in messages:
        before = UNANSWERED_TOKENS if message is messages[-1] and message.is_unprompted else 0
        if kept:  # the later message's time, after a pause or between two of the companion's messages
            later = kept[-1]
            is_unasked = later.role == message.role == Message.Role.ASSISTANT
            has_rested = later.said_at - message.said_at >= RESTED
            before += UNANSWERED_TOKENS if is_unasked else TIME_TOKENS if has_rested else 0
        tried = message
        if (needed := before + _estimate(message)) > tokens and cut_to:
            tried = message._replace(text=beginning(message.text, cut_to))
            needed = before + _estimate(tried)
        if needed > tokens:
            break
        tokens -= needed
        kept.append(tried)
    return kept[::-1]


def _estimate(message: Spoken) -> int:
    text = render_said(show_emotions(message.text, message.emotions), message.quoted, message.files)
    deeds = estimate_messages(render_deeds(message)) if message.calls else 0
    return estimate(text) + MESSAGE_TOKENS + deeds


def align_window(kept: list[Spoken], count: int) -> list[Spoken]:
    """Return the `kept` messages, of `count` in all, without the oldest few, so that the window moves in steps.

    A window that moved with each turn would change the prompt from the history's beginning on. The step is the largest
    that leaves more than half of the kept messages. If all messages are kept, none is dropped.
    """
    unsent = count - len(kept)
    for step in MOVES_BY if unsent else ():
        beyond = -unsent % step
        if beyond < len(kept) // 2:
            return kept[beyond:]
    return kept


def change_window(pressure: float) -> int:
    """Return how many more messages to leave out after a turn whose prompt took `pressure`, a share of the context.

    A negative number brings messages back.
    """
    return next((change for above, change in WINDOW_STEPS if pressure > above), WINDOW_RECOVERY)


def move_window(unsent: int, pressure: float, messages: int) -> int:
    """Return how many of the `messages` to leave out from now on: at least 0, and never the newest message."""
    return max(0, min(unsent + change_window(pressure), messages - 1))


def without_unsent(messages: Sequence[T], unsent: int) -> Sequence[T]:
    """Return the messages (oldest first) without the oldest `unsent` ones, but always with the newest."""
    return messages[min(unsent, max(len(messages) - 1, 0)) :]


# -- tool calls and their results, of the present turn and of earlier answers

# The tools that change something, unlike those that only search or list. `revise` is the former name of `remember`.
DEEDS = frozenset(
    {
        *("remember", "revise", "forget", "block_append", "block_replace", "note"),
        *("set_timer", "cancel_timer"),
    }
)
MAX_VALUE_CHARACTERS = 200  # of each argument, and of each part of a result
ID_CHARACTERS = 9  # letters and digits: Mistral's chat templates accept no other length


def compose_call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    """Return a tool call as it stands in an assistant message; `arguments` is a JSON string."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def read_arguments(arguments: str) -> dict[str, Any] | None:
    """Return the arguments of a call; None if they are no JSON object. Small models write the object as a string."""
    try:
        given = json.loads(arguments or "{}")
        given = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def compose_tool_result(call_id: str, result: Mapping[str, Any]) -> Line:
    """Return a tool's result as a message to the model."""
    return {
        "role": "tool",
        "tool_call_id": call_id,
        "content": neutral(json.dumps(result, ensure_ascii=False)),
    }


def render_deeds(said: Spoken) -> list[Line]:
    """Return the tool calls that changed something before the message was said, or failed to, each with its result.

    Long texts in them are shortened. Each message holds one call, since some chat templates accept only one.
    """
    lines: list[Line] = []
    for number, (name, arguments, result) in enumerate(_choose_deeds(said)):
        call_id = f"{said.pk.hex[: ID_CHARACTERS - 2]}{number:02}"
        call = compose_call(call_id, name, neutral(json.dumps(arguments, ensure_ascii=False)))
        lines.append({"role": "assistant", "content": None, "tool_calls": [call]})
        lines.append(compose_tool_result(call_id, result))
    return lines


def _choose_deeds(said: Spoken) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield each call that succeeded; of a tool whose calls all failed, the last one: the model may have said that all
    is done.
    """
    deeds = [call for call in said.calls if call["name"] in DEEDS]
    succeeded = {call["name"] for call in deeds if "error" not in call["result"]}
    last = {call["name"]: place for place, call in enumerate(deeds)}
    for place, call in enumerate(deeds):
        arguments = _shorten(read_arguments(call["arguments"]) or {})
        if "error" not in call["result"]:
            yield call["name"], arguments, _shorten(call["result"])
        elif call["name"] not in succeeded and last[call["name"]] == place:
            yield call["name"], arguments, _shorten({"not_done": call["result"]["error"]})


def _shorten(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: shorten(value, MAX_VALUE_CHARACTERS) if isinstance(value, str) else value
        for name, value in values.items()
    }

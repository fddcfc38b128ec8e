"""What a companion does in a waking: one bounded loop of answers and tools, each tool with its record in one commit."""

import re
from datetime import datetime
from time import monotonic

from django.conf import settings

from accounts.models import ModelCall
from accounts.usage import charged
from companions import tools
from companions.conversations.emotion_tags import split_emotions, without_tags
from companions.life.waking_context import WakingContext, compose_prompt
from companions.prompting.turn_prompt import compose_tool_result
from providers.chat.completion import Completion, complete
from providers.chat.events import ToolCall
from providers.errors import ProviderUnavailable
from providers.tokens import neutralise_messages
from text.strings import shorten, storable

MAX_THOUGHT_CHARACTERS = 4000
MAX_EMOTIONS = 20
MAX_CHARACTERS = 4000  # of what is said unprompted
AROUND = r"[\s.…·*_()\[\]<>（）【】。-]*+"  # possessive: a model may go on with dots for as long as it likes
SILENCE = re.compile(rf"(?i){AROUND}(?:silen(?:t|ce)|stay(?:s|ing)? silent|沉默|不说话)?{AROUND}")
OTHERS = ("user", "person", "human", "用户")


def decide(context: WakingContext, now: datetime) -> str:
    """Return what is to be said to the person, kept with the waking; nothing where it stays silent.

    Whoever takes it over goes on after the tools that were called. Raises ProviderError, also where it takes longer
    than LIFE_WAKING_SECONDS, and LostOwnershipError.
    """
    until = monotonic() + settings.LIFE_WAKING_SECONDS
    round = max((step["round"] for step in context.waking.steps), default=0) + 1
    while not is_silent(context):
        is_last = round >= settings.TOOL_ROUNDS
        answer = _ask(context, now, until, is_last=is_last)
        if is_last or not answer.calls:
            _add_thoughts(context, answer.thought)
            text, emotions = read_words(answer.text, context.companion.name, context.companion.user.name)
            # Written before it is said: whoever is killed in between need not ask again.
            context.write(text=text, emotions=emotions[:MAX_EMOTIONS], thought=context.waking.thought)
            return text
        _add_thoughts(context, answer.thought, answer.text)
        calls = [tools.cut_call(call) for call in answer.calls]
        for call, refusal in zip(calls, tools.add_calls(context, calls), strict=True):
            if not is_silent(context):
                _use_tool(context, call, refusal, round)
        round += 1
    return ""


def is_silent(context: WakingContext) -> bool:
    """Return whether it has chosen silence."""
    return any(
        step["name"] == "stay_silent" and "error" not in step["result"] for step in context.waking.steps
    )


def _ask(context: WakingContext, now: datetime, until: float, *, is_last: bool) -> Completion:
    with context.held():  # nothing is deleted between looking and writing down what was looked at
        context.prompt = compose_prompt(context, now)
        is_rehearsed = settings.CHAT["is_rehearsal"]
        context.write(
            prompt=neutralise_messages(context.prompt), shown=sorted(context.shown), is_rehearsed=is_rehearsed
        )
    left = until - monotonic()
    if left <= 0:
        raise ProviderUnavailable(f"The waking took longer than {settings.LIFE_WAKING_SECONDS:g} s")
    offered = [] if is_last else tools.get_waking_offers()
    with charged(context.payer, ModelCall.Purpose.WAKING, context.lease.clock) as charge:
        answer = complete(context.prompt, offered, timeout_seconds=left)
    context.call_id = charge.calls[-1].pk if charge.calls else None
    return answer


def _add_thoughts(context: WakingContext, *thoughts: str) -> None:
    """Add to what it has thought; it is written with the next tool or the answer."""
    added = (without_tags(storable(thought)).strip() for thought in thoughts)
    thought = "\n\n".join(filter(None, (context.waking.thought, *added)))
    context.waking.thought = shorten(thought, MAX_THOUGHT_CHARACTERS)


def _use_tool(context: WakingContext, call: ToolCall, refusal: str, round: int) -> None:
    """Call the tool and write down what it gave, in one commit: it is done once, whoever is killed.

    One that asks a model is called before: nobody is to wait for a lock that is held meanwhile. It only looks.
    """
    now = context.lease.clock()
    result = {"error": refusal} if refusal else None
    if result is None and tools.asks_model(call.name):
        result = tools.call(context, call.name, call.arguments, now)
    with context.held():
        if result is None:
            result = tools.call(context, call.name, call.arguments, now)
        step = {"round": round, "id": call.id, "name": call.name, "result": result}
        step["arguments"] = "{}" if refusal else call.arguments
        context.write(
            steps=[*context.waking.steps, step], shown=sorted(context.shown), thought=context.waking.thought
        )
    context.prompt.append(compose_tool_result(call.id, result))


def read_words(text: str, companion: str, user: str) -> tuple[str, list[dict[str, object]]]:
    """Return what the companion says, and its emotions, each with the place in that from which it holds."""
    words, felt = split_emotions(text)
    said = clean_words(words, companion, user)
    before = max(words.find(said[:40]), 0)
    rows = [
        emotion.row() | {"at": max(emotion.at - before, 0)}
        for emotion in felt
        if emotion.at <= before + len(said)
    ]
    return said, rows if said else []


def clean_words(text: str, companion: str, user: str) -> str:
    """Return what the companion says, without its own name before it, and nothing from where it goes on as the person.

    Nothing where it says nothing, or only that it is silent; at most 4,000 characters.
    """
    words = re.sub(rf"(?i)^\s*\**{re.escape(companion)}\**\s*[:：]\s*", "", storable(text))
    names = "|".join(re.escape(name) for name in (*OTHERS, user) if name.strip())
    words = re.split(rf"(?im)^[^\S\n]*+\**+(?:{names})\**\s*[:：]", words, maxsplit=1)[0].strip()
    return "" if SILENCE.fullmatch(words) else shorten(words, MAX_CHARACTERS)

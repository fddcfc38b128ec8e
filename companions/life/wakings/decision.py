"""The decision of a waking: a bounded loop of model answers and tool calls, each call committed with its record."""

from datetime import datetime
from secrets import token_hex
from time import monotonic

from django.conf import settings

from accounts.limits.usage import charged
from accounts.models import ModelCall
from companions import tools
from companions.answers.emotion_tags import without_tags
from companions.answers.text_calls import QuotedCalls
from companions.life.wakings.answer import Words, is_silence, read_answer, read_calls
from companions.life.wakings.context import WakingContext, compose_prompt
from companions.minds.choice import choose_provider, compute_sampling, get_mind
from companions.models import Waking
from companions.prompting.history import compose_tool_result
from providers.chat.completion import Completion, complete
from providers.chat.events import ToolCall
from providers.chat.sampling import Sampling
from providers.errors import ProviderUnavailable
from providers.tokens import neutralise_messages
from text.strings import storable

MAX_EMOTIONS = 20


def decide(context: WakingContext, now: datetime) -> str:
    """Let the model use tools and decide; save and return what is to be said to the person, empty for silence.

    A worker that takes the waking over continues after the tool calls made so far. Raise ProviderError, also if
    it takes longer than LIFE_WAKING_SECONDS, and LostOwnershipError.
    """
    until = monotonic() + settings.LIFE_WAKING_SECONDS
    round = max((step["round"] for step in context.waking.steps), default=0) + 1
    while context.waking.outcome != Waking.Outcome.SILENT:
        is_last = round >= settings.TOOL_ROUNDS
        answer = _ask(context, now, until, is_last=is_last)
        asked = [] if is_last else answer.calls or _find_text_calls(context, answer.text)
        if not asked:
            keeps_directions = not context.companion.without_directions
            words = read_answer(
                answer.text, context.names, keeps_directions=keeps_directions, is_cut=answer.is_cut
            )
            _add_thoughts(context, answer.thought)
            return _keep_words(context, words)
        _add_thoughts(context, answer.thought, answer.text if answer.calls else "")
        calls = [tools.cut_call(call) for call in asked]
        for call, refusal in zip(calls, tools.add_calls(context, calls), strict=True):
            if is_silence(call.name):  # there is no such tool, but models call one
                return _keep_words(context, Words())
            _use_tool(context, call, refusal, round)
        round += 1
    return ""


def _keep_words(context: WakingContext, words: Words) -> str:
    """Save the words with the waking and return their text, so that a restart need not ask the model again."""
    _add_thoughts(context, words.why)
    context.write(
        text=words.text,
        emotions=words.emotions[:MAX_EMOTIONS],
        thought=context.waking.thought,
        outcome="" if words.text else Waking.Outcome.SILENT,
    )
    return words.text


def _ask(context: WakingContext, now: datetime, until: float, *, is_last: bool) -> Completion:
    with context.held():  # nothing can be deleted between composing the prompt and saving what it shows
        context.prompt = compose_prompt(context, now)
        provider, is_stand_in = choose_provider(context.companion)
        context.write(
            prompt=neutralise_messages(context.prompt),
            shown=sorted(context.shown_ids),
            is_rehearsed=provider.is_rehearsal,
            model=provider.model,
            is_stand_in=is_stand_in,
        )
    left = until - monotonic()
    if left <= 0:
        raise ProviderUnavailable(f"The waking took longer than {settings.LIFE_WAKING_SECONDS:g} s")
    offered = [] if is_last else context.offers
    sampling = Sampling.for_talk((), compute_sampling(get_mind(context.companion)))
    with charged(context.payer, ModelCall.Purpose.WAKING, context.lease.clock) as calls:
        answer = complete(provider, context.prompt, offered, sampling=sampling, timeout_seconds=left)
    context.call_id = calls[-1].pk if calls else None
    return answer


def _find_text_calls(context: WakingContext, text: str) -> list[ToolCall]:
    """Return the calls of offered tools that the answer contains as text, unless they only repeat the prompt."""
    offered = [offer["function"]["name"] for offer in context.offers]
    quoted = QuotedCalls(context.prompt)
    return [
        ToolCall(f"call_{token_hex(8)}", call.name, call.arguments)
        for call in read_calls(text, context.names, offered)[: settings.TOOL_CALLS]
        if not quoted.has(call.name, call.arguments)
    ]


def _add_thoughts(context: WakingContext, *thoughts: str) -> None:
    """Add to the waking's thoughts in memory; they are saved with the next tool call or the answer."""
    context.waking.add_thoughts(*(without_tags(storable(thought)) for thought in thoughts))


def _use_tool(context: WakingContext, call: ToolCall, refusal: str, round: int) -> None:
    """Call the tool and save its result in one transaction, so that its effect happens once even after a crash.

    A tool that asks a model only reads: it is called before, so that no lock is held meanwhile.
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
            steps=[*context.waking.steps, step],
            shown=sorted(context.shown_ids),
            thought=context.waking.thought,
        )
    context.prompt.append(compose_tool_result(call.id, result))

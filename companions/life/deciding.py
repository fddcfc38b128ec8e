"""What a companion does in a waking: one bounded loop of answers and tools, each tool with its record in one commit."""

from collections.abc import Sequence
from datetime import datetime
from time import monotonic

from django.conf import settings

from accounts.models import ModelCall
from accounts.usage import charged
from companions import tools
from companions.expressing import without_tags
from companions.life import prompting
from companions.life.awake import Awake
from companions.life.wording import expressed
from companions.sessions.trying import Step
from companions.tools.putting import put
from memory.text import shortened, storable
from providers.consulting import Consulted, consult
from providers.control_tokens import harmless
from providers.errors import ProviderUnavailable
from providers.pieces import ToolCall

THOUGHT_CHARACTERS = 4000
MOST_EMOTIONS = 20


def decide(awake: Awake, now: datetime, step: Step) -> str:
    """What is to be said to the person, kept with the waking; nothing where it stays silent.

    Whoever takes it over goes on after the tools that were called. Raises ProviderError, also where it takes longer
    than LIFE_WAKING_SECONDS, and WakingOverError.
    """
    until = monotonic() + settings.LIFE_WAKING_SECONDS
    round = max((one["round"] for one in awake.waking.steps), default=0) + 1
    while not is_silent(awake):
        is_last = round >= settings.TOOL_ROUNDS
        answer = _ask(awake, now, until, step, is_last=is_last)
        if is_last or not answer.calls:
            return _kept(awake, answer)
        _think(awake, answer.thought, answer.text)
        _use(awake, answer.calls, round, step)
        round += 1
    return ""


def is_silent(awake: Awake) -> bool:
    """Whether it has chosen silence."""
    return any(one["name"] == "stay_silent" and "error" not in one["result"] for one in awake.waking.steps)


def _ask(awake: Awake, now: datetime, until: float, step: Step, *, is_last: bool) -> Consulted:
    with awake.held():  # nothing is deleted between looking and writing down what was looked at
        awake.prompt = prompting.compose(awake, now)
        is_rehearsed = settings.CHAT["is_rehearsal"]
        awake.write(prompt=harmless(awake.prompt), shown=sorted(awake.shown), is_rehearsed=is_rehearsed)
    step("prompted")
    left = until - monotonic()
    if left <= 0:
        raise ProviderUnavailable(f"The waking took longer than {settings.LIFE_WAKING_SECONDS:g} s")
    offered = [] if is_last else tools.offered_in_wakings()
    with charged(awake.payer, ModelCall.Purpose.WAKING, awake.lease.clock) as charge:
        answer = consult(awake.prompt, offered, seconds=left)
    awake.call_id = charge.calls[-1].pk if charge.calls else None
    step("asked")
    return answer


def _kept(awake: Awake, answer: Consulted) -> str:
    """What is said, on the waking before it is said: whoever is killed in between need not ask again."""
    _think(awake, answer.thought)
    text, emotions = expressed(answer.text, awake.companion.name, awake.companion.user.name)
    awake.write(text=text, emotions=emotions[:MOST_EMOTIONS], thought=awake.waking.thought)
    return text


def _think(awake: Awake, *thoughts: str) -> None:
    """Add to what it has thought; it is written with the next step."""
    told = "\n\n".join(
        filter(None, (awake.waking.thought, *(without_tags(storable(one)).strip() for one in thoughts)))
    )
    awake.waking.thought = shortened(told, THOUGHT_CHARACTERS)


def _use(awake: Awake, calls: Sequence[ToolCall], round: int, step: Step) -> None:
    """Call the tools, until it has chosen silence."""
    bounded = [tools.bounded(one) for one in calls]
    for call, refusal in zip(bounded, put(awake, bounded), strict=True):
        _use_one(awake, call, refusal, round, step)
        step("used")
        if is_silent(awake):
            return


def _use_one(awake: Awake, call: ToolCall, refusal: str, round: int, step: Step) -> None:
    """Call the tool and write down what it gave, in one commit: it is done once, whoever is killed.

    One that asks a model is called before: nobody is to wait for a lock that is held meanwhile. It only looks.
    """
    now = awake.lease.clock()
    given = {"error": refusal} if refusal else None
    if given is None and call.name in tools.ASKING:
        given = tools.call(awake, call.name, call.arguments, now)
    with awake.held():
        if given is None:
            given = tools.call(awake, call.name, call.arguments, now)
        used = {"round": round, "id": call.id, "name": call.name, "result": given}
        steps = [*awake.waking.steps, {**used, "arguments": "{}" if refusal else call.arguments}]
        awake.write(steps=steps, shown=sorted(awake.shown), thought=awake.waking.thought)
        step("using")
    awake.prompt.append(prompting.gave(call.id, given))

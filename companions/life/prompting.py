"""What is sent to the model in a waking: who it is, what it remembers and feels, why it woke, and where the two left
off. No talk beside that.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Max, Q

from companions.in_mind import inside
from companions.last_time import load_last_time
from companions.life import timers
from companions.life.awake import Awake
from companions.life.consent import refusal
from companions.life.mood import felt_now
from companions.models import Message, Waking
from companions.prompts import RULES, Line, system
from companions.replies.frames import as_json
from companions.replies.mind import always_in_mind
from companions.spans import ago
from memory.quoting import block, neutral, one_line, quoted
from memory.recall import Found
from memory.together import alone
from providers.tokens import beginning

LATE = timedelta(minutes=5)
MEMORY_TOKENS = 300  # of what it is about
WAKING_RULES = f"""{RULES}

Nobody has spoken to you just now: you woke by yourself. The block <kith-waking> comes from Kith and tells why.
What you write at the end goes to the person as a message. To say nothing, call stay_silent: silence is a form of care.
Where they asked you for it, tell them what they wanted to be told, kindly and briefly.
Else speak only because you care, never because a timer went off; hold back if it is late, if they are tired, or if you
two have just talked. Never make them feel guilty, never press them to answer or to come back, never feign distress.
Beside that you may think, feel, write your diary, pursue a goal or an idea, set timers, and keep what matters."""


def compose(awake: Awake, now: datetime) -> list[Line]:
    """The prompt with what was done already in this waking; what stands in it is among `awake.shown` from now on."""
    mind = alone(always_in_mind(awake.companion.pk))
    awake.shown |= mind.sources | _asked_by(awake)
    awake.mood = felt_now(mind.inner.feeling, mind.inner.made_at, now).valence if mind.inner else 0.0
    last_time = load_last_time(awake.companion)
    awake.shown |= last_time.ids if last_time else set()
    before = last_time.lines(awake.companion, now) if last_time else []
    why = [*_why(awake, now), *before, *inside(mind, now, settings.CONTEXT_TOKENS // 16)]
    return [
        {"role": "system", "content": system(awake.companion, mind, rules=WAKING_RULES)},
        {"role": "user", "content": block("waking", why)},
        *_done(awake.waking.steps),
    ]


def _asked_by(awake: Awake) -> set[UUID]:
    """The messages behind why it woke, and the memory that it is about, which is now among what was found."""
    about, ids = awake.about, {one.pk for one in awake.causes}
    if about is None:
        return ids
    awake.found = [Found(about, 0.0, {})]
    return ids | {about.pk} | ({about.message_id} if about.message_id else set())


def _why(awake: Awake, now: datetime) -> list[str]:
    waking, zone = awake.waking, awake.companion.user.zone
    lines = [
        f"Now: {now.astimezone(zone):%A %d %B %Y, %H:%M} ({awake.companion.user.time_zone})",
        f"You woke by: {_woken_by(awake)}",
        f"They asked you for this: {'yes' if waking.is_asked_for else 'no'}",
    ]
    if code := refusal(awake.companion, waking, now):
        why = code.replace("_", " ")
        lines.append(f"You may not write to them now: {why}. Whatever else you may do.")
    if note := awake.note:
        lines.append(f"What for: {quoted(note)}")
    if about := awake.about:
        on = about.happened_at.astimezone(zone)
        lines.append(f"It is about: - [{on:%Y-%m-%d}] {quoted(beginning(about.text, MEMORY_TOKENS))}")
    return [*lines, *_late(waking, now), *_spoke(awake, now)]


def _woken_by(awake: Awake) -> str:
    waking = awake.waking
    if waking.origin == Waking.Origin.DRIVE:
        return f"a drive of your own, {one_line(waking.drive)}"
    if waking.timer is None:
        return "a timer that is gone"
    how = timers.in_words(waking.timer, awake.companion.user.zone, "en")
    named = f"the {waking.timer.name} timer" if waking.timer.name else "a timer"
    return f"{named}, {quoted(how)}{', fired by hand' if waking.origin == Waking.Origin.FORCED else ''}"


def _late(waking: Waking, now: datetime) -> list[str]:
    lines = [f"It was due {ago(now - waking.due_at)}."] if now - waking.due_at > LATE else []
    if waking.missed and waking.missed_since:
        lines.append(f"Missed before it: {waking.missed}, the first {ago(now - waking.missed_since)}.")
    return lines


def _spoke(awake: Awake, now: datetime) -> list[str]:
    said, by_them = Message.objects.filter(companion=awake.companion), Q(role=Message.Role.USER)
    spoke = said.aggregate(they=Max("said_at", filter=by_them), you=Max("said_at", filter=~by_them))
    they, you = spoke["they"], spoke["you"]
    if they is None:
        return ["They have never written to you yet."]
    lines = [f"They last wrote: {ago(now - they)}."]
    if you:
        unanswered = " They have not answered since." if you > they else ""
        lines.append(f"You last wrote: {ago(now - you)}.{unanswered}")
    return lines


def _done(steps: Sequence[dict[str, Any]]) -> list[Line]:
    """The tools called so far, with what they gave."""
    lines: list[Line] = []
    for _round, some in groupby(steps, key=lambda one: one["round"]):
        used = list(some)
        lines.append({"role": "assistant", "content": None, "tool_calls": [_wire(one) for one in used]})
        lines += [gave(one["id"], one["result"]) for one in used]
    return lines


def gave(call_id: str, result: dict[str, Any]) -> Line:
    """What a tool gave, as the model is told."""
    return {"role": "tool", "tool_call_id": call_id, "content": neutral(as_json(result))}


def _wire(step: dict[str, Any]) -> dict[str, Any]:
    function = {"name": step["name"], "arguments": step["arguments"]}
    return {"id": step["id"], "type": "function", "function": function}

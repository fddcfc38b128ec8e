"""The context of a waking under way: its companion, the worker's lease on it, and the prompt composed from it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max, Q

from accounts.limits.usage import Payer
from companions import tools
from companions.answers.lines import Names
from companions.errors import LostOwnershipError
from companions.life.eligibility import find_refusal
from companions.life.inner_state import get_feeling_now
from companions.life.timers import timers
from companions.life.wakings.answer import EXAMPLE
from companions.life.wakings.recent_talk import RecentTalk, load_recent_talk
from companions.lore.turn import find_constant_lore
from companions.models import Companion, Message, Waking
from companions.models.companion import lock
from companions.prompting.history import Line, compose_call, compose_tool_result
from companions.prompting.moment import (
    MAX_TIMERS,
    load_last_time,
    load_running_timers,
    render_entry,
    render_now,
    render_timers,
)
from companions.prompting.persona import Persona
from companions.prompting.pinned_context import load_pinned_context, render_inner_state
from companions.prompting.turn_prompt import EMOTIONS, PERSONA_RULES, render_memory, render_system
from jobs.lease import Lease
from memory.models import Memory
from memory.recall.candidates import MemoryFilter
from memory.recall.origins import load_origins
from memory.recall.recall import LEARNT, Found, recall
from memory.threads import load_open_threads, render_threads
from providers.tokens import beginning
from text.dates import name_day, render_age
from text.strings import block, one_line, quoted

LATE_AFTER = timedelta(minutes=5)
MAX_MEMORY_TOKENS = 300  # of the memory that the waking is about
MAX_RELATED = 4  # memories beside it
REFUSALS = {  # by code, why the companion may not write now, in words that it may repeat
    "not_opted_in": "they have not allowed it",
    "muted": "they have muted you",
    "goodbye": "they have said goodbye",
    "quiet_hours": "these are their quiet hours",
    "enough_today": "you have written enough today",
    "unanswered": "they have not answered what you wrote before",
    "talked_since": "they have written meanwhile",
}
WAKING_RULES = f"""{PERSONA_RULES}

Nobody has spoken to you just now: you woke by yourself. The block <kith-waking> comes from Kith and tells why, and what
was said last. First you may use tools: think, feel, write your diary, pursue a goal or an idea, set timers, keep what
matters. What you write there tells only of what is shown to you: invent no person, place, number or event.
Then choose: to say something to the person, or nothing. Silence is a form of care. Answer with one JSON object and
nothing else, of one of these two forms:
{{{{"choice": "silent", "why": "…"}}}}
{{{{"choice": "speak", "emotion": "…", "text": "{EXAMPLE}"}}}}
The emotion is what you show as you say it, one of {EMOTIONS}.
Where they asked you for it, tell them what they wanted to be told, kindly and briefly. What they have answered meanwhile
you do not ask again: speak of what they told you.
Else speak only because you care, never because a timer went off; hold back if it is late, if they are tired, or if you
two have just talked. Never make them feel guilty, never press them to answer, to stay or to come back, never feign
distress or urgency, never threaten, never be jealous or speak against people they know, never claim to be human, never
tie affection to money or to a streak."""


@dataclass(slots=True)
class WakingContext:
    """A companion acting in a waking, as tools see it. `history` are the messages that its prompt shows."""

    waking: Waking
    companion: Companion
    lease: Lease
    history: list[Message] = field(default_factory=list)
    recalled: list[Found] = field(default_factory=list)
    prompt: list[Line] = field(default_factory=list)
    shown_ids: set[UUID] = field(default_factory=set)
    mood: float = 0.0
    call_id: int | None = None

    message: None = None
    reply_id: None = None

    @property
    def causes(self) -> list[Message]:
        """The message in answer to which the waking's timer was set, if there is one."""
        timer = self.waking.timer
        return [timer.message] if timer and timer.message else []

    @property
    def note(self) -> str:
        """The note of what the waking is for; empty if it quotes a memory that models may no longer see."""
        return "" if self.waking.has_lost_subject else self.waking.note

    @property
    def verbatim_ids(self) -> list[UUID]:
        return [message.pk for message in self.history]

    @property
    def names(self) -> Names:
        """The names of companion and person, which the model may put before its answer as labels."""
        return Names(self.companion.name, self.companion.user.name, self.companion.nickname)

    @property
    def offers(self) -> list[dict[str, Any]]:
        """The tools offered so far, including the groups that the model has asked for in this waking."""
        return tools.get_offers(tools.find_asked_groups(self.waking.steps), in_waking=True)

    @property
    def offered_tokens(self) -> int:
        return tools.count_offered_tokens(tools.find_asked_groups(self.waking.steps), in_waking=True)

    @property
    def payer(self) -> Payer:
        return self.companion.payer

    @contextmanager
    def held(self) -> Iterator[None]:
        """Run the block in a transaction under `hold`."""
        until = self.lease.until
        try:
            with transaction.atomic():
                self.hold()
                yield
        except BaseException:
            self.lease.until = until  # the rollback also undoes a renewal of the lease
            raise

    def hold(self) -> None:
        """Lock companion and waking until the transaction ends. Raise LostOwnershipError if the lease is lost."""
        lock(self.companion.pk)
        mine = self.lease.held_row.select_for_update()  # no other worker can take it over until the commit
        if not mine.values_list("pk"):
            raise LostOwnershipError

    def write(self, **fields: Any) -> None:
        """Save these fields of the waking and renew the lease. Raise LostOwnershipError if the lease is lost."""
        if not self.lease.renew(**fields):
            raise LostOwnershipError
        for name, value in fields.items():
            setattr(self.waking, name, value)


def compose_prompt(context: WakingContext, now: datetime) -> list[Line]:
    """Return the prompt, with the tool calls made so far, and add the ids of what it shows to `context.shown_ids`."""
    pinned = load_pinned_context(context.companion.pk)
    context.mood = get_feeling_now(pinned.inner_state, now).valence
    timer = context.waking.timer
    is_evening = timer is not None and timer.name == "evening"  # when it looks back on the day
    since = _find_start(context.waking) if now - context.waking.due_at > LATE_AFTER else None
    talk = load_recent_talk(context.companion, now, is_evening=is_evening, since=since)
    context.history = list(talk.messages)
    context.shown_ids |= {*pinned.sources, *talk.ids, *(message.pk for message in context.causes)}
    about = context.waking.subject
    if about:
        context.recalled = [Found(about, 0.0, {}), *_recall_about(context, about, now)]
        for found in context.recalled:
            context.shown_ids |= {id for id in (found.memory.pk, found.memory.message_id) if id}
    zone = context.companion.user.zone
    today = now.astimezone(zone).date()
    threads = load_open_threads(context.companion.pk, now, zone)
    threads = [thread for thread in threads if thread.memory != about]  # of that, the reason tells
    running_timers = load_running_timers(context.companion.pk)  # or it would set one of them again
    context.shown_ids |= {thread.memory_id for thread in threads}
    context.shown_ids |= {timer.pk for timer in running_timers[:MAX_TIMERS]}
    seed = context.waking.pk.int
    lore = find_constant_lore(context.companion, seed)
    persona = Persona(companion=context.companion, lore=lore, now=now.astimezone(zone), seed=seed)
    why = [
        *_tell_reason(context, now),
        *_tell_known(context, now),
        *_tell_last_entry(context, talk, today),
        *talk.lines(context.companion, today),
        *render_threads(threads, today, zone),
        *render_timers(running_timers, context.companion, today),
        *render_inner_state(pinned, now.astimezone(zone)),
    ]
    system = render_system(persona, pinned, rules=WAKING_RULES, tool_tokens=context.offered_tokens)
    return [
        {"role": "system", "content": system},
        {"role": "user", "content": block("waking", why)},
        *_compose_steps(context.waking.steps),
    ]


def _find_start(waking: Waking) -> datetime:
    """Return the time from which a late waking shows all talk, which may have answered it already.

    That is when its timer was set; for a cron timer or none, the first due time that was missed, or its own.
    """
    timer = waking.timer
    is_set_once = timer is not None and not timer.schedule.startswith("cron:")
    return timer.created_at if timer and is_set_once else waking.missed_since or waking.due_at


def _tell_last_entry(context: WakingContext, talk: RecentTalk, today: date) -> list[str]:
    """Return the line of the newest diary entry, if there was a talk and `talk` does not show the entry."""
    last_time = load_last_time(context.companion)
    entry = last_time.entry if last_time else None
    if entry is None or entry in talk.pages:
        return []
    context.shown_ids |= entry.shown_ids
    return [render_entry(entry, context.companion, today)]


def _tell_reason(context: WakingContext, now: datetime) -> list[str]:
    waking, zone = context.waking, context.companion.user.zone
    lines = [
        render_now(now.astimezone(zone), context.companion.user.time_zone),
        f"You woke by: {_tell_origin(context)}",
        f"They asked you for this: {'yes' if waking.is_asked_for else 'no'}",
    ]
    if code := find_refusal(context.companion, waking, now):
        lines.append(f"You may not write to them now: {REFUSALS[code]}. Choose silent; all else you may do.")
    if note := context.note:
        lines.append(f"What for: {quoted(note)}")
    if about := waking.subject:
        on = name_day(about.happened_at.astimezone(zone).date(), now.astimezone(zone).date())
        lines.append(f"It is about: - [{on}] {quoted(beginning(about.text, MAX_MEMORY_TOKENS))}")
    if now - waking.due_at > LATE_AFTER:
        lines.append(f"It was due {_render_age(context, waking.due_at, now)}.")
    if waking.missed and waking.missed_since:
        first = _render_age(context, waking.missed_since, now)
        lines.append(f"Missed before it: {waking.missed}, the first {first}.")
    return [*lines, *_tell_last_words(context, now)]


def _recall_about(context: WakingContext, about: Memory, now: datetime) -> list[Found]:
    """Return what was learnt that bears on what the waking is about, by its words: somebody's birthday is another day
    once they have died.
    """
    companion = context.companion
    return recall(
        companion.pk,
        about.text,
        MAX_RELATED,
        now=now,
        zone=companion.user.zone,
        names=companion.names,
        filters=MemoryFilter(kinds=LEARNT, leaving_out_memories={about.pk}),
        by_itself=True,
    )


def _tell_known(context: WakingContext, now: datetime) -> list[str]:
    """Return the lines of what is remembered beside the memory that the waking is about."""
    related, today = context.recalled[1:], now.astimezone(context.companion.user.zone).date()
    origins = load_origins(context.companion.pk, [found.memory for found in related])
    lines = [render_memory(found, context.companion, today, origins) for found in related]
    return ["Remembered:", *lines] if lines else []


def _tell_origin(context: WakingContext) -> str:
    waking = context.waking
    if waking.origin == Waking.Origin.DRIVE:
        return f"a drive of your own, {one_line(waking.drive)}"
    if waking.timer is None:
        return "a timer that is gone"
    is_forced = waking.origin == Waking.Origin.FORCED
    schedule = timers.describe(waking.timer, context.companion.user.zone, "en", is_past=not is_forced)
    name = f"the {one_line(waking.timer.name)} timer" if waking.timer.name else "a timer"
    return f"{name}, {quoted(schedule)}{', fired by hand' if is_forced else ''}"


def _tell_last_words(context: WakingContext, now: datetime) -> list[str]:
    said, by = Message.objects.filter(companion=context.companion), Message.Role
    last = said.aggregate(
        they=Max("said_at", filter=Q(role=by.USER)),
        you=Max("said_at", filter=Q(role=by.ASSISTANT)),
        unasked=Max("said_at", filter=Q(role=by.ASSISTANT, waking__is_asked_for=False)),
    )
    they, you, unasked = last["they"], last["you"], last["unasked"]
    if they is None:
        return ["They have never written to you yet."]
    lines = [f"They last wrote: {_render_age(context, they, now)}."]
    if you:
        lines.append(f"You last wrote: {_render_age(context, you, now)}.")
    if unasked and unasked > they:
        lines.append("They have not answered what you wrote unasked.")
    return lines


def _render_age(context: WakingContext, at: datetime, now: datetime) -> str:
    zone = context.companion.user.zone
    return render_age(at.astimezone(zone), now.astimezone(zone))


def _compose_steps(steps: Sequence[dict[str, Any]]) -> list[Line]:
    """Return the prompt lines of the tool calls so far, with their results."""
    lines: list[Line] = []
    for _round, group in groupby(steps, key=lambda step: step["round"]):
        used = list(group)
        calls = [compose_call(step["id"], step["name"], step["arguments"]) for step in used]
        lines.append({"role": "assistant", "content": None, "tool_calls": calls})
        lines += [compose_tool_result(step["id"], step["result"]) for step in used]
    return lines

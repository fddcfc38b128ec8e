"""The moment in a prompt: the time, where person and companion left off, the open threads, the timers that are set."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from django.db.models import Subquery

from companions.conversations.messages import Spoken
from companions.life.timers.timers import describe, get_planned
from companions.models import Companion, Message, Session, Timer
from companions.models.conversation import DIGEST_MESSAGES
from companions.prompting import budgets
from companions.prompting.history import RESTED
from companions.sessions.transcript import select_messages, select_visible
from memory.models import DiaryEntry, Thread
from memory.threads import leave_out_told, load_open_threads, render_threads
from providers.tokens import beginning, estimate
from text.dates import name_day, name_whole_day, render_age
from text.strings import one_line, quoted, shorten

FIRST_TURNS = 3  # of a session, in which the prompt tells where the two left off
MAX_TIMERS = 3  # shown one by one, those due first
MAX_NOTE_CHARACTERS = 120
TIMERS = "These timers are set already:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The times of the moment in the user's zone: now, the first meeting, when they last spoke, when they began this
    talk (None with this message), and when they last spoke before it.

    Try-outs show these lines, too; wakings have some of their own. They take part of `budgets.FACTS_TOKENS`, as the
    other lines of the moment do not: these take room from the history.
    """

    now: datetime
    zone: str
    first_met: datetime
    last_spoke: datetime | None
    began: datetime | None = None
    spoke_before: datetime | None = None

    def lines(self) -> list[str]:
        """Return the times as lines of a prompt."""
        now, last_spoke, began = self.now, self.last_spoke, self.began
        lines = [render_now(now, self.zone), f"First met: {self.first_met:%d %B %Y}"]
        if last_spoke is None:
            lines.append("This is your first conversation, and you are glad of the meeting.")
        if began:
            lines.append(f"This talk began: {name_whole_day(began.date(), now.date())}, {began:%H:%M}")
        if began and last_spoke and now - last_spoke >= RESTED:
            lines.append(f"They last wrote: {render_age(last_spoke, now)}.")
        if self.spoke_before:
            lines.append(render_last_talk(self.spoke_before, now))
        return lines


def render_now(now: datetime, zone: str) -> str:
    """Return the line that tells the time, given in the user's zone. The rehearsal model reads it by its form."""
    return f"Now: {now:%A %d %B %Y, %H:%M} ({zone})"


def load_times(
    companion: Companion, session: Session, message: Message, now: datetime, *, is_told: bool
) -> Times:
    """Load the turn's times, in the user's time zone. `is_told`: the prompt tells of the last session elsewhere."""
    zone, said = companion.user.zone, Message.objects.filter(companion=companion).values("said_at")
    earlier = said.filter(role=Message.Role.USER, said_at__lt=message.said_at).order_by("-said_at")
    before = earlier.filter(said_at__lt=session.started_at)
    # What the companion says unprompted opens a session, too, and may be answered days later.
    in_talk = earlier.filter(session=session.pk, said_at__gte=session.started_at).order_by("said_at")
    dates = (Subquery(rows[:1]) for rows in (said.order_by("said_at"), earlier, before, in_talk))
    first, last, before_session, began = Companion.objects.values_list(*dates).get(pk=companion.pk)
    return Times(
        now=now.astimezone(zone),
        zone=companion.user.time_zone,
        first_met=min(first or now, companion.created_at).astimezone(zone),
        last_spoke=last.astimezone(zone) if last else None,
        began=began.astimezone(zone) if began else None,
        spoke_before=before_session.astimezone(zone) if before_session and not is_told else None,
    )


# -- where the two left off


@dataclass(frozen=True, slots=True)
class LastTime:
    """Where the two left off: when the previous talk ended, the newest diary entry, and the last two messages of that
    talk, oldest first.
    """

    ended_at: datetime
    entry: DiaryEntry | None
    last_words: list[Message]

    @property
    def ids(self) -> set[UUID]:
        """The ids of all that the lines show, by which a prompt is found when any of it is deleted."""
        return {message.pk for message in self.last_words} | (self.entry.shown_ids if self.entry else set())

    @property
    def told_memory_id(self) -> UUID | None:
        """The id of the diary entry's memory if the lines tell all of it, so that it is not recalled beside them."""
        if self.entry and estimate(self.entry.text) <= budgets.LAST_DIARY_TOKENS:
            return self.entry.memory_id
        return None

    def lines(self, companion: Companion, now: datetime) -> list[str]:
        """Return where the two left off as lines of a prompt; `now` must be in the user's zone."""
        lines = [render_last_talk(self.ended_at.astimezone(companion.user.zone), now)]
        lines += [render_entry(self.entry, companion, now.date())] if self.entry else []
        if self.last_words:
            names = {Message.Role.USER.value: one_line(companion.user.name) or "They"}
            words = [
                f"{names.get(message.role, 'You')} said: {quoted(beginning(message.text, budgets.LAST_WORDS_TOKENS))}"
                for message in self.last_words
            ]
            lines.append(f"It ended: {' '.join(words)}")
        return lines


def render_entry(entry: DiaryEntry, companion: Companion, today: date) -> str:
    """Return the line that tells what the diary entry says, and of which day it is."""
    on = name_day(entry.get_day(companion.user.zone), today)
    return f"Your diary, of {on}: {quoted(beginning(entry.text, budgets.LAST_DIARY_TOKENS))}"


def render_last_talk(ended: datetime, now: datetime) -> str:
    """Return the line that tells when the previous talk ended; `ended` and `now` must be in the user's zone."""
    day = name_whole_day(ended.date(), now.date())
    return f"Last time you two talked: {render_age(ended, now)}, until {day}, {ended:%H:%M}"


def load_last_time(companion: Companion, before: Session | None = None) -> LastTime | None:
    """Return how the last talk before session `before` ended, or the newest if that is None; None if there was no talk.

    Three queries. Hidden messages and private or stale diary entries are left out.
    """
    sessions = Session.objects.filter(companion=companion, messages__role=Message.Role.USER)
    if before:
        sessions = sessions.exclude(pk=before.pk).filter(started_at__lt=before.started_at)
    session = sessions.order_by("-started_at").first()
    if session is None:
        return None
    newest = list(select_visible(select_messages(session)).reverse()[:2])
    last_word_at = newest[0].said_at if newest else session.started_at  # the session was closed hours later
    entries = DiaryEntry.objects.filter(companion=companion).visible_to_models()
    return LastTime(last_word_at, entries.order_by("-ended_at").first(), newest[::-1])


# -- the open threads


def load_untold_threads(companion: Companion, before: Sequence[Spoken], now: datetime) -> list[Thread]:
    """Return the open threads, except those whose end the person has told: these are settled at the next digest.

    `before` are the messages before the newest one, newest first.
    """
    threads, newest = load_open_threads(companion.pk, now, companion.user.zone), before[:DIGEST_MESSAGES]
    user_lines = [(said.text, said.said_at) for said in newest if said.role == Message.Role.USER]
    return leave_out_told(threads, user_lines, companion.names, companion.user.zone)


# -- the timers, without which a companion would guess whether one is set, or set it twice


def load_running_timers(companion_id: UUID) -> list[Timer]:
    """Return the active timers that the person or the companion has set, the first due first."""
    return list(get_planned(companion_id).filter(by__in=(Timer.By.USER, Timer.By.COMPANION)))


def render_timers(timers: Sequence[Timer], companion: Companion, today: date) -> list[str]:
    """Return lines on when the first MAX_TIMERS timers are due in the person's zone, and what for; [] for no timers."""
    lines = [_render_timer(timer, companion, today) for timer in timers[:MAX_TIMERS]]
    more = [f"- and {len(timers) - MAX_TIMERS} more"] if len(timers) > MAX_TIMERS else []
    return [TIMERS, *lines, *more] if lines else []


def _render_timer(timer: Timer, companion: Companion, today: date) -> str:
    assert timer.due_at is not None  # noqa: S101 (an active timer has one, by constraint)
    zone = companion.user.zone
    due_at = timer.due_at.astimezone(zone)
    day = name_day(due_at.date(), today)
    when = f"{day}, {due_at:%H:%M}"
    if timer.schedule.startswith("cron:"):
        when = f"{describe(timer, zone, 'en')}, next on {day}"
    when += "" if timer.is_asked_for else ", a wish of your own"
    return f"- {when}: {quoted(shorten(' '.join(timer.note.split()), MAX_NOTE_CHARACTERS))}"


# -- the whole


@dataclass(frozen=True, slots=True)
class Moment:
    """What a turn's prompt tells of the moment, except the companion's feeling."""

    times: Times
    last_time: LastTime | None = None
    threads: Sequence[Thread] = ()
    timers: Sequence[Timer] = ()

    @property
    def ids(self) -> set[UUID]:
        """The ids of all that the lines show."""
        ids = self.last_time.ids if self.last_time else set()
        ids |= {thread.memory_id for thread in self.threads}
        return ids | {timer.pk for timer in self.timers[:MAX_TIMERS]}

    def lines(self, companion: Companion) -> list[str]:
        """Return where the two left off, the open threads and the timers as lines of a prompt."""
        before = self.last_time.lines(companion, self.times.now) if self.last_time else []
        today = self.times.now.date()
        threads = render_threads(self.threads, today, companion.user.zone)
        return [*before, *threads, *render_timers(self.timers, companion, today)]


def load_moment(
    companion: Companion, session: Session, message: Message, before: Sequence[Spoken], now: datetime
) -> Moment:
    """Load the moment in which `message` is answered; `before` are the session's earlier messages, newest first."""
    is_beginning = sum(said.role == Message.Role.USER for said in before) < FIRST_TURNS
    last_time = load_last_time(companion, session) if is_beginning else None
    return Moment(
        load_times(companion, session, message, now, is_told=last_time is not None),
        last_time,
        load_untold_threads(companion, before, now),
        load_running_timers(companion.pk),
    )

"""What a waking's prompt shows of the talk: the last lines; more for a late waking; the whole day for the evening's."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from django.db.models import Q

from companions.life.eligibility import get_midnight
from companions.models import Companion, Message
from companions.prompting import budgets
from companions.sessions.transcript import ASKS_TO_FORGET
from memory.models import DiaryEntry
from memory.models.diary_entry import NIGHT_ENDS
from providers.tokens import beginning, estimate
from text.dates import name_day
from text.strings import one_line, quoted

LAST_LINES = 8
LINE_TOKENS = 80  # a longer line is cut to its beginning
LAST_SHARE, LONG_SHARE = 16, 6  # 1/16 of the context window for the last lines, 1/6 for more
MAX_LINES = 100
MAX_PAGES, PAGE_TOKENS = 3, 200


@dataclass(frozen=True, slots=True)
class RecentTalk:
    """The messages, oldest first; if they are those of a `day`, with its diary entries, and how many did not fit."""

    messages: Sequence[Message]
    pages: Sequence[DiaryEntry] = ()
    day: date | None = None
    left_out: int = 0

    @property
    def ids(self) -> set[UUID]:
        """The ids of all that the lines show, by which a prompt is found when any of it is deleted."""
        return {message.pk for message in self.messages}.union(*(page.shown_ids for page in self.pages))

    def lines(self, companion: Companion, today: date) -> list[str]:
        """Return the talk as lines of a prompt, with times in the person's time zone."""
        day = self.day and ("today" if self.day == today else name_day(self.day, today))
        title = f"What was said {day}:" if day else "The last of your talk:"
        lines = [title] if self.messages else []
        if self.left_out:
            lines.append(f"(the first {self.left_out} lines of the day are left out)")
        on = None if self.day else today
        lines += [_render_line(message, companion, on) for message in self.messages]
        if self.pages:
            lines.append(f"Your diary of {day}:")
            lines += [f"- {quoted(beginning(page.text, PAGE_TOKENS))}" for page in self.pages]
        return lines


def _render_line(message: Message, companion: Companion, today: date | None) -> str:
    """Return the message with its time and, unless `today` is None, its day."""
    at = message.said_at.astimezone(companion.user.zone)
    names = {
        Message.Role.USER.value: one_line(companion.user.name) or "They",
        Message.Role.SYSTEM.value: "Kith",
    }
    text = quoted(beginning(message.text, LINE_TOKENS))
    when = f"{name_day(at.date(), today)}, {at:%H:%M}" if today else f"{at:%H:%M}"
    return f"- [{when}] {names.get(message.role, 'You')}: {text}"


def load_recent_talk(
    companion: Companion, now: datetime, *, is_evening: bool, since: datetime | None
) -> RecentTalk:
    """Return the last lines of the talk, in the evening those of the day, with the day's diary entries. An evening that
    comes after midnight, e.g. since the machine was off, is still that of the day before.

    At any other time, and on an evening of a day without talk and entries, it is the last LAST_LINES, or all `since` a
    time if those are more. Only MAX_LINES at most are returned, and those that fit. Hidden and replaced messages are
    left out, requests to forget with their answers, and private and stale diary entries. Runs four queries at most.
    """
    spoken = Q(role__in=[Message.Role.USER, Message.Role.ASSISTANT]) | Q(waking__isnull=False)
    said = Message.objects.filter(spoken, companion=companion, is_hidden=False)
    said = said.exclude(ASKS_TO_FORGET).exclude(memory__closed_at__isnull=False).order_by("-said_at", "-id")
    if is_evening:
        midnight = get_midnight(now.astimezone(companion.user.zone) - NIGHT_ENDS)
        of_day = list(said.filter(said_at__gte=midnight)[:MAX_LINES])
        entries = DiaryEntry.objects.filter(companion=companion, ended_at__gte=midnight).visible_to_models()
        pages = list(entries.order_by("-ended_at")[:MAX_PAGES])[::-1]
        if of_day or pages:
            shown = _take_newest(of_day, budgets.share(LONG_SHARE))
            return RecentTalk(shown, pages, day=midnight.date(), left_out=len(of_day) - len(shown))
    later = said.filter(said_at__gte=since).count() if since else 0
    last = list(said[: min(max(later, LAST_LINES), MAX_LINES)])
    return RecentTalk(_take_newest(last, budgets.share(LONG_SHARE if since else LAST_SHARE)))


def _take_newest(messages: Sequence[Message], tokens: int) -> list[Message]:
    """Return the newest messages that fit in so many tokens, at least one. Takes newest first, returns oldest first."""
    kept: list[Message] = []
    for message in messages:
        tokens -= estimate(beginning(message.text, LINE_TOKENS)) + 12
        if kept and tokens < 0:
            break
        kept.append(message)
    return kept[::-1]

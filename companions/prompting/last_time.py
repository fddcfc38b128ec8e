"""Where the person and the companion left off before this talk, as lines of a prompt."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from companions.models import Companion, Message, Session
from companions.prompting import budgets
from companions.sessions.transcript import select_messages, select_visible
from memory.models import DiaryEntry
from providers.tokens import beginning
from text.dates import render_age
from text.strings import one_line, quoted


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
        ids = {message.pk for message in self.last_words}
        if self.entry:
            sources = (UUID(id) for said in self.entry.sentences for id in said.get("sources") or ())
            ids |= {self.entry.pk, *sources} | ({self.entry.memory_id} if self.entry.memory_id else set())
        return ids

    def lines(self, companion: Companion, now: datetime) -> list[str]:
        """Return where the two left off as lines of a prompt; `now` must be in the user's zone."""
        lines = [render_last_talk(self.ended_at.astimezone(companion.user.zone), now)]
        if self.entry:
            text = beginning(f"{self.entry.title}. {self.entry.summary}", budgets.LAST_DIARY_TOKENS)
            on = self.entry.get_day(companion.user.zone)
            lines.append(f"Your diary, of {on:%A %d %B}: {quoted(text)}")
        if self.last_words:
            names = {Message.Role.USER.value: one_line(companion.user.name) or "They"}
            words = [
                f"{names.get(message.role, 'You')} said: {quoted(beginning(message.text, budgets.LAST_WORDS_TOKENS))}"
                for message in self.last_words
            ]
            lines.append(f"It ended: {' '.join(words)}")
        return lines


def render_last_talk(ended: datetime, now: datetime) -> str:
    """Return the line that tells when the previous talk ended; `ended` and `now` must be in the user's zone."""
    return f"Last time you two talked: {render_age(now - ended)}, until {ended:%A %d %B, %H:%M}"


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
    entries = DiaryEntry.objects.filter(companion=companion, is_stale=False).order_by("-ended_at")
    entry = entries.exclude(memory__is_private=True).exclude(memory__is_stale=True).first()
    return LastTime(last_word_at, entry, newest[::-1])

"""Where the two left off: how long ago they last talked, what the diary says of it, and how it ended."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from companions.models import Companion, Message, Session
from companions.sessions.stretch import said, told
from memory.models import DiaryEntry
from providers.tokens import beginning
from text.ages import render_age
from text.quoting import one_line, quoted

FIRST_TURNS = 3  # of a session: later it has a course of its own
DIARY_TOKENS = 80
SAID_TOKENS = 50


@dataclass(frozen=True, slots=True)
class LastTime:
    """The talk before: when it ended, the newest diary entry, and the last two things said in it, oldest first."""

    ended_at: datetime
    entry: DiaryEntry | None
    last_words: list[Message]

    @property
    def ids(self) -> set[UUID]:
        """Return the ids of all that its lines show, by which a prompt is found when any of it is deleted."""
        ids = {message.pk for message in self.last_words}
        if self.entry:
            sources = (UUID(id) for said in self.entry.sentences for id in said.get("sources") or ())
            ids |= {self.entry.pk, *sources} | ({self.entry.memory_id} if self.entry.memory_id else set())
        return ids

    def lines(self, companion: Companion, now: datetime) -> list[str]:
        """Return it as lines of a prompt; `now` and all that is told is in the user's zone."""
        ended = self.ended_at.astimezone(companion.user.zone)
        lines = [f"Last time you two talked: {render_age(now - ended)}, until {ended:%A %d %B, %H:%M}"]
        if self.entry:
            text = beginning(f"{self.entry.title}. {self.entry.summary}", DIARY_TOKENS)
            on = self.entry.started_at.astimezone(companion.user.zone)
            lines.append(f"Your diary, of {on:%A %d %B}: {quoted(text)}")
        if self.last_words:
            lines.append(f"It ended: {' '.join(_quote(message, companion) for message in self.last_words)}")
        return lines


def load_last_time(companion: Companion, before: Session | None = None) -> LastTime | None:
    """Return the talk before that session, or without one the newest talk; None where there was none.

    Three queries. What is hidden, private or stale is not told.
    """
    sessions = Session.objects.filter(companion=companion, messages__role=Message.Role.USER)
    if before:
        sessions = sessions.exclude(pk=before.pk).filter(started_at__lt=before.started_at)
    session = sessions.order_by("-started_at").first()
    if session is None:
        return None
    newest = list(told(said(session)).reverse()[:2])
    last_word_at = newest[0].said_at if newest else session.started_at  # it was closed hours later
    return LastTime(last_word_at, _newest_entry(companion), newest[::-1])


def _newest_entry(companion: Companion) -> DiaryEntry | None:
    entries = DiaryEntry.objects.filter(companion=companion, is_stale=False)
    return (
        entries.exclude(memory__is_private=True).exclude(memory__is_stale=True).order_by("-ended_at").first()
    )


def _quote(message: Message, companion: Companion) -> str:
    is_users = message.role == Message.Role.USER
    who = (one_line(companion.user.name) or "They") if is_users else "You"
    return f"{who} said: {quoted(beginning(message.text, SAID_TOKENS))}"

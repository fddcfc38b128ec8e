"""A new companion made of DigitalLife's eight fields: all of it or nothing."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import orjson
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from companions import creation
from companions.conversations.messages import say_all
from companions.errors import LimitError
from companions.models import Companion, Conversation, Message, Session
from companions.transfer.digital_life import Long, Mind, Short, moment, split_text
from memory.learning.diary import ClosedSession, Written, keep_entry
from memory.learning.revisions import revise
from memory.models import DiaryEntry, Recall, Recalled, Revision
from memory.models.revision import MAX_SENTENCES
from memory.store import keep_fact

TINT = 200
NEXT = timedelta(
    microseconds=1
)  # a user's turn and its reply have one time there; here they follow each other


@transaction.atomic
def import_mind(user: User, mind: Mind, now: datetime) -> Companion:
    """The companion, with all that there is of it. LimitError."""
    count = len(mind.shortTermMemory) + len(mind.archivedMemory)
    if count > settings.MESSAGES_EACH:
        limit = f"{settings.MESSAGES_EACH:,}"
        raise LimitError(
            "too_many_messages", _("A companion can hold %(limit)s messages.") % {"limit": limit}
        )
    companion = creation.create(user, name=mind.selfName, persona="", greeting="", tint=TINT, now=now)
    _understand(companion, mind, now)
    _Coming(companion, mind, now).live_through()
    return companion


def _understand(companion: Companion, mind: Mind, now: datetime) -> None:
    """The first twenty sentences are what it thinks and knows; the rest is kept as facts."""
    for about, text in (
        (Revision.About.SELF_CONCEPT, mind.memoryAboutSelf),
        (Revision.About.USER_PROFILE, mind.memoryAboutUser),
    ):
        sentences = split_text(text)
        first = [{"text": one, "sources": []} for one in sentences[:MAX_SENTENCES]]
        if first:
            revise(companion.pk, about, first, Revision.By.IMPORT, now)
        for one in sentences[MAX_SENTENCES:]:
            keep_fact(companion.pk, one, now, now, zone=companion.user.zone)


@dataclass
class _Coming:
    """What was said, as it is woven into sessions, one after the other; nothing is learnt from it anew."""

    companion: Companion
    mind: Mind
    now: datetime
    last: Message | None = None

    def live_through(self) -> None:
        entries: dict[str, DiaryEntry] = {}
        said: dict[str, list[Short]] = defaultdict(list)
        for one in self.mind.archivedMemory:
            said[one.belongTo].append(one)
        conversation = Conversation.objects.get(companion=self.companion)
        for entry in sorted(self.mind.longTermMemory, key=lambda one: one.startTime):
            session = self._ended(conversation, entry)
            self._say(session, said[entry.uuid], entries)
            entries[entry.uuid] = self._write(session, entry)
        session = Session.objects.get(conversation=conversation, ended_at=None)
        self._go_on(session, entries)
        Conversation.objects.filter(pk=conversation.pk).update(head=self.last)

    def _ended(self, conversation: Conversation, entry: Long) -> Session:
        return Session.objects.create(
            companion=self.companion,
            conversation=conversation,
            started_at=moment(entry.startTime),
            ended_at=moment(entry.endTime),
            title=entry.title,
        )

    def _write(self, session: Session, entry: Long) -> DiaryEntry:
        sentences: list[dict[str, Any]] = [{"text": one, "sources": []} for one in split_text(entry.summary)]
        written = Written(
            title=entry.title,
            diary=sentences,
            emotion="neutral",
            intensity=0.0,
            self_concept=[],
            user_profile=[],
            call_id=None,
        )
        started_at, ended_at = moment(entry.startTime), moment(entry.endTime)
        ended = ClosedSession(
            session_id=session.pk, started_at=started_at, ended_at=ended_at, written=written
        )
        return keep_entry(self.companion.pk, ended, self.now, self.companion.user.zone)

    def _go_on(self, session: Session, entries: dict[str, DiaryEntry]) -> None:
        """The open session: what was said last, with the summary of it."""
        messages = self._say(session, self.mind.shortTermMemory, entries)
        session.summary = self.mind.currentSummary
        if messages:
            session.started_at, session.summarised_until = messages[0].said_at, messages[-1].said_at
        session.save(update_fields=["summary", "started_at", "summarised_until"])

    def _say(self, session: Session, said: Sequence[Short], entries: dict[str, DiaryEntry]) -> list[Message]:
        """What was said, in the order of time; what was called to mind stands between, and is no message."""
        messages: list[Message] = []
        at, cue = None, ""
        for one in sorted(said, key=lambda one: one.timestamp):
            at = max(moment(one.timestamp), at + NEXT) if at else moment(one.timestamp)
            if one.tool_calls:
                cue = _cue(one.tool_calls)
            elif one.role == "tool":
                self._call_to_mind(one, entries, at, cue)
            elif one.is_message:
                messages.append(self._message(session, one, at))
        for earlier, later in pairwise([self.last, *messages]):
            if later:
                later.parent = earlier
        say_all(self.companion, messages, self.now)
        self.last = messages[-1] if messages else self.last
        return messages

    def _message(self, session: Session, one: Short, at: datetime) -> Message:
        is_own = one.role == "assistant"
        return Message(
            companion=self.companion,
            conversation_id=session.conversation_id,
            session=session,
            role=one.role,
            author=self.mind.selfName if is_own else self.mind.userName or self.companion.user.name,
            text=one.content or "",
            said_at=at,
            is_learnt=True,
        )

    def _call_to_mind(self, one: Short, entries: dict[str, DiaryEntry], at: datetime, cue: str) -> None:
        recall = Recall.objects.create(
            companion=self.companion, by=Recall.By.TOOL, cue=cue, at=at, milliseconds=0
        )
        found = {each.uuid: each for each in one.recall or () if each.uuid in entries}
        Recalled.objects.bulk_create(
            Recalled(recall=recall, memory=entries[uuid].memory, rank=rank, score=each.similarity, reasons={})
            for rank, (uuid, each) in enumerate(found.items(), start=1)
        )


def _cue(calls: Sequence[Any]) -> str:
    """What was looked for, as the first call says; "" where it says nothing."""
    try:
        told = orjson.loads(calls[0]["function"]["arguments"])["memoryDescription"]
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return ""
    return told.replace("\x00", "")[: settings.MESSAGE_CHARACTERS] if isinstance(told, str) else ""

"""Import of DigitalLife's eight fields as a new companion, in one transaction."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import orjson
from django.conf import settings
from django.utils.translation import gettext as _

from accounts.models import User
from companions import creation
from companions.archives.limits import require_storage
from companions.conversations.messages import say_all
from companions.errors import LimitError
from companions.models import Companion, Conversation, Message, Session
from companions.transfer.digital_life import Long, Mind, Short, split_text, to_datetime
from database.journal import everywhere
from memory.learning.diary import ClosedSession, Written, keep_entry
from memory.learning.revisions import add_revision
from memory.models import DiaryEntry, Recall, Recalled, Revision
from memory.models.revision import MAX_SENTENCES
from memory.store import keep_fact

TINT = 200  # of all companions from DigitalLife
# DigitalLife gives a user's turn and its reply the same time; Kith needs them one after the other.
STEP = timedelta(microseconds=1)


@everywhere()
def import_mind(user: User, mind: Mind, now: datetime) -> Companion:
    """Create a companion from the file and return it. Raise LimitError if it is too large or the user has too many."""
    if len(mind.shortTermMemory) + len(mind.archivedMemory) > settings.MESSAGES_EACH:
        detail = _("A companion can have at most %(limit)s messages.") % {
            "limit": f"{settings.MESSAGES_EACH:,}"
        }
        raise LimitError("too_many_messages", detail)
    companion = creation.create(user, name=mind.selfName, tint=TINT, now=now)
    # The first twenty sentences become self-concept and user profile, the rest facts.
    for about, text in (
        (Revision.About.SELF_CONCEPT, mind.memoryAboutSelf),
        (Revision.About.USER_PROFILE, mind.memoryAboutUser),
    ):
        sentences = split_text(text)
        first = [{"text": sentence, "sources": []} for sentence in sentences[:MAX_SENTENCES]]
        if first:
            add_revision(companion.pk, about, first, Revision.By.IMPORT, now)
        for sentence in sentences[MAX_SENTENCES:]:
            keep_fact(companion.pk, sentence, now, now, zone=companion.user.zone)
    _SessionImport(companion, mind, now).run()
    require_storage(user)
    return companion


@dataclass
class _SessionImport:
    """The import of messages into sessions, one session after the other. The messages count as learnt from already."""

    companion: Companion
    mind: Mind
    now: datetime
    last: Message | None = None
    entries: dict[str, DiaryEntry] = field(default_factory=dict)

    def run(self) -> None:
        said: dict[str, list[Short]] = defaultdict(list)
        for line in self.mind.archivedMemory:
            said[line.belongTo].append(line)
        conversation = Conversation.objects.get(companion=self.companion)
        for entry in sorted(self.mind.longTermMemory, key=lambda entry: entry.startTime):
            self._import_session(conversation, entry, said[entry.uuid])
        session = Session.objects.get(conversation=conversation, ended_at=None)
        messages = self._import_lines(session, self.mind.shortTermMemory)
        session.summary = self.mind.currentSummary
        if messages:
            session.started_at, session.summarised_until = messages[0].said_at, messages[-1].said_at
        session.save(update_fields=["summary", "started_at", "summarised_until"])
        Conversation.objects.filter(pk=conversation.pk).update(head=self.last)

    def _import_session(self, conversation: Conversation, entry: Long, said: Sequence[Short]) -> None:
        """Create an ended session with its messages and its diary entry."""
        started_at, ended_at = to_datetime(entry.startTime), to_datetime(entry.endTime)
        session = Session.objects.create(
            companion=self.companion,
            conversation=conversation,
            started_at=started_at,
            ended_at=ended_at,
            title=entry.title,
        )
        self._import_lines(session, said)
        written = Written(
            title=entry.title,
            diary=[{"text": sentence, "sources": []} for sentence in split_text(entry.summary)],
            emotion="neutral",
            intensity=0.0,
            self_concept=[],
            user_profile=[],
            call_id=None,
        )
        closed = ClosedSession(
            session_id=session.pk, started_at=started_at, ended_at=ended_at, written=written
        )
        self.entries[entry.uuid] = keep_entry(self.companion.pk, closed, self.now, self.companion.user.zone)

    def _import_lines(self, session: Session, said: Sequence[Short]) -> list[Message]:
        """Save the lines in chronological order, as messages or (tools' results) as recalls; return the messages."""
        messages: list[Message] = []
        at, cue = None, ""
        for line in sorted(said, key=lambda line: line.timestamp):
            at = max(to_datetime(line.timestamp), at + STEP) if at else to_datetime(line.timestamp)
            if line.tool_calls:
                cue = _read_cue(line.tool_calls)
            elif line.role == "tool":
                self._import_recall(line, at, cue)
            elif line.is_message:
                is_own = line.role == "assistant"
                message = Message(
                    companion=self.companion,
                    conversation_id=session.conversation_id,
                    session=session,
                    role=line.role,
                    author=self.mind.selfName if is_own else self.mind.userName or self.companion.user.name,
                    text=line.content or "",
                    said_at=at,
                    is_learnt=True,
                )
                messages.append(message)
        for earlier, later in pairwise([self.last, *messages]):
            if later:
                later.parent = earlier
        say_all(self.companion, messages, self.now)
        self.last = messages[-1] if messages else self.last
        return messages

    def _import_recall(self, line: Short, at: datetime, cue: str) -> None:
        recall = Recall.objects.create(
            companion=self.companion, by=Recall.By.TOOL, cue=cue, at=at, milliseconds=0
        )
        found = {each.uuid: each for each in line.recall or () if each.uuid in self.entries}
        Recalled.objects.bulk_create(
            Recalled(
                recall=recall, memory=self.entries[uuid].memory, rank=rank, score=each.similarity, reasons={}
            )
            for rank, (uuid, each) in enumerate(found.items(), start=1)
        )


def _read_cue(calls: Sequence[Any]) -> str:
    """Return the cue of the first tool call, or "" if it has none."""
    try:
        cue = orjson.loads(calls[0]["function"]["arguments"])["memoryDescription"]
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return ""
    return cue.replace("\x00", "")[: settings.MESSAGE_CHARACTERS] if isinstance(cue, str) else ""

"""Import a log of an earlier conversation with its own dates, all of it or nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from django.conf import settings
from django.db.models import Sum
from django.utils.translation import gettext as _

from companions.answers.emotion_tags import without_tags
from companions.archives.limits import estimate_bytes, require_storage
from companions.conversations.messages import say_all
from companions.errors import CompanionsError, ConflictError, LimitError
from companions.models import Companion, Job, Message, PastImport, Session
from companions.models.companion import hold
from companions.pasts.placement import weave_in
from companions.pasts.plan import SESSION_GAP
from database.journal import everywhere
from memory.forgotten import load_forgotten
from memory.models import Memory

MAX_MESSAGES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One message of a log; `role` is user or assistant, `at` has a time zone."""

    role: str
    text: str
    at: datetime
    name: str = ""
    client_id: str | None = None


class LogError(CompanionsError):
    """The log cannot be imported; nothing of it was."""


@everywhere()
def import_log(companion: Companion, lines: Sequence[Line], now: datetime) -> Job:
    """Import the log, and return a job whose progress is how many of the messages can be recalled.

    Lines that were imported before are skipped, and a model's lines with nothing but emotion tags. Lines that mention
    something forgotten are hidden from models.
    """
    locked = hold(companion.pk)
    if locked is None:
        raise LogError("no_such_companion", _("You have no such companion."), 404)
    companion, new = locked, _select_new(locked, lines)
    require_room(companion, len(new))
    require_storage(companion.user, estimate_bytes(line.text for line in new))
    job = Job.objects.create(companion=companion, kind=Job.Kind.IMPORT_LOG, total=len(new))
    messages = _make_messages(companion, job, sorted(new, key=lambda line: line.at))
    say_all(companion, messages, now)
    hidden = [message.pk for message in messages if message.is_hidden]
    Memory.objects.of(companion.pk).filter(message__in=hidden).update(is_private=True)
    weave_in(companion.conversation, messages)
    return job


def require_room(companion: Companion, more: int) -> None:
    """Raise LimitError if the companion has no room for `more` messages beside those of imports still under way.

    Call it with the companion held.
    """
    coming = PastImport.objects.filter(companion=companion, state=PastImport.State.WAITING)
    wanted = coming.aggregate(count=Sum("messages_count", default=0))["count"]
    there = Message.everywhere.filter(companion=companion).exclude(job__in=coming.values("job"))
    if there.count() + wanted + more > settings.MESSAGES_EACH:
        limit = f"{settings.MESSAGES_EACH:,}"
        raise LimitError(
            "too_many_messages", _("A companion can have at most %(limit)s messages.") % {"limit": limit}
        )


def _select_new(companion: Companion, lines: Sequence[Line]) -> list[Line]:
    """Return the lines to import: a model's without emotion tags, and none that is empty then or has a known client id.

    Raise LogError if two lines have the same client id, ConflictError if a known client id has another text.
    """
    plain = [replace(line, text=without_tags(line.text)) if line.role != "user" else line for line in lines]
    lines = [
        after for after, before in zip(plain, lines, strict=True) if after.text.strip() or after is before
    ]
    given = [line.client_id for line in lines if line.client_id]
    if len(given) != len(set(given)):
        raise LogError("client_id_twice", _("Two messages in this log have the same client id."))
    known = dict(
        Message.everywhere.filter(companion=companion, client_id__in=given).values_list("client_id", "text")
    )
    for line in lines:
        if line.client_id in known and known[line.client_id] != line.text:
            raise ConflictError("client_id_taken", _("Another message has already been sent under this id."))
    return [line for line in lines if line.client_id not in known]


def _make_messages(companion: Companion, job: Job, lines: Sequence[Line]) -> list[Message]:
    """Return the lines, given in order of time, as a chain of unsaved messages, in ended sessions, which are saved.

    A new session begins after a silence of more than `SESSION_GAP`.
    """
    sessions: list[Session] = []
    forgotten = load_forgotten(companion.pk)
    for index, line in enumerate(lines):
        if index == 0 or line.at - lines[index - 1].at > SESSION_GAP:
            session = Session(companion=companion, conversation=companion.conversation, started_at=line.at)
        session.ended_at = line.at
        sessions.append(session)
    Session.objects.bulk_create(dict.fromkeys(sessions))
    messages = [
        Message(
            companion=companion,
            conversation=companion.conversation,
            session=session,
            role=line.role,
            author=line.name
            or (companion.name if line.role == Message.Role.ASSISTANT else companion.user.name),
            text=line.text,
            client_id=line.client_id,
            said_at=line.at,
            is_hidden=forgotten.select_since(line.at).forbid(line.text),
            is_learnt=True,  # earlier talk can be recalled, but is not learnt from unless somebody asks
            job=job,
        )
        for line, session in zip(lines, sessions, strict=True)
    ]
    for earlier, later in pairwise(messages):
        later.parent = earlier
    return messages

"""The diary as its person meets it: how far the end of the open session is, and deleting a session that has ended."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _

from companions.deletion import delete_messages, forget_many
from companions.locks import lock
from companions.models import Closing, Companion, Message, Session
from memory.models import DiaryEntry

STEPS = 3  # asked for, under way, drafted


@dataclass(frozen=True, slots=True)
class Ending:
    """The open session, if there is one, whether its user has said anything in it, and its newest closing."""

    session: Session | None
    is_spoken: bool
    closing: Closing | None

    @property
    def is_under_way(self) -> bool:
        return self.closing is not None and self.closing.state == Closing.State.WAITING

    @property
    def has_failed(self) -> bool:
        """Whether the last try came to nothing: it waits for another one, or for somebody who asks."""
        return self.closing is not None and bool(self.closing.error)

    @property
    def can_end(self) -> bool:
        """Whether there is something to end, and nobody at it."""
        return self.is_spoken and not self.is_under_way

    @property
    def step(self) -> int:
        """How far it is, from 1 to `STEPS`."""
        if self.closing is None or not self.closing.is_begun:
            return 1
        return STEPS if self.closing.drafts else 2

    @property
    def problem(self) -> str:
        """What happened at the last try, in a sentence; nothing where nothing did."""
        return _problem(self.closing.error) if self.closing and self.closing.error else ""


def _problem(code: str) -> str:
    sentences = {
        "provider_unavailable": _("The model could not be reached."),
        "provider_refused": _("The model refused to answer."),
        "malformed_answer": _("The model answered in a form that could not be read."),
    }
    return sentences.get(code) or _("Something went wrong on Kith's side.")


def ending(companion: Companion) -> Ending:
    """How far the end of the open session is: two queries."""
    by_user = Message.objects.filter(session=OuterRef("pk"), role=Message.Role.USER)
    mine = Session.objects.filter(companion=companion, ended_at=None)
    session = mine.annotate(is_spoken=Exists(by_user)).first()
    if session is None:
        return Ending(None, is_spoken=False, closing=None)
    closing = Closing.objects.filter(session=session).order_by("-asked_at").first()
    return Ending(session, session.is_spoken, closing)


@transaction.atomic
def delete_entry(companion_id: UUID, entry_id: UUID, now: datetime) -> None:
    """The entry is gone, with everything said in its session and all that was drawn from that."""
    lock(companion_id)
    entries = DiaryEntry.objects.filter(companion=companion_id, pk=entry_id)
    said = Message.objects.filter(companion=companion_id, session__diary_entry__in=entries)
    delete_messages(companion_id, list(said.values_list("pk", flat=True)), now)
    memories = entries.exclude(memory=None).values_list("memory", flat=True)
    forget_many(companion_id, list(memories), now)
    entries.delete()

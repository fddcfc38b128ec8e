"""Taking back what was drawn from what goes: learnt, written into the diary, summed up, drafted, lived."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from companions.deletion.dependents import Dependents, build_scope, find_dependents, withdraw_dependents
from companions.models import Closing, Companion, Message, Session
from jobs.enqueue import enqueue
from memory.deletion import DeletionScope, conceal_derived, find_restatements, remove_derived

REWRITE_DIARY = "companions.sessions.tasks.rewrite_stale_diary"


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The ids of memories that are to be deleted with what goes, of those that say less, and of what life made of it."""

    gone: frozenset[UUID]
    changed: frozenset[UUID]
    lived: frozenset[UUID]

    @property
    def ids(self) -> frozenset[UUID]:
        return self.gone | self.changed | self.lived


def withdraw(companion: Companion, scope: DeletionScope, begun: Dependents | None = None) -> Withdrawn:
    """Take back what was drawn from the scope, and what the companion's life made of it; name what is to be deleted.

    What was lived leads to pages of the diary, which lead to what was drawn from them, and that to what was lived.
    """
    dependents = find_dependents(scope, begun=begun)
    gone, changed = frozenset[UUID](), frozenset[UUID]()
    while True:
        derived = remove_derived(replace(scope, memories=scope.memories | gone | dependents.pages))
        gone, changed = gone | derived.gone | dependents.pages, changed | derived.changed
        dependents = find_dependents(scope, gone | changed, dependents)
        if dependents.pages <= gone:
            break
    withdraw_dependents(companion, dependents, scope.now)
    return Withdrawn(gone, changed - gone, dependents.shown)


def withdraw_corrected(companion: Companion, message: Message, before: str, now: datetime) -> Withdrawn:
    """Take back what was drawn from words that the message said `before` and, saved with others, says no more."""
    scope = replace(
        build_scope(companion, now, sources=[message]),
        corrected=frozenset([message.pk]),
        texts=(before,),
        kept=(message.text,),
    )
    withdrawn = withdraw(companion, scope)
    if _is_drafted(message):
        clear_summaries(companion, scope, [message])
    else:
        _clear_notes(scope)
    return withdrawn


def _is_drafted(message: Message) -> bool:
    """Return whether something that sums up its session may have been made with it: it is sent as it is else."""
    until = message.session.summarised_until
    closings = Closing.objects.filter(session=message.session).exclude(drafts={}, seen=[])
    return message.is_learnt or bool(until and until >= message.said_at) or closings.exists()


def conceal(companion: Companion, scope: DeletionScope) -> None:
    """Keep from models what is in the scope and what was drawn from it."""
    dependents, private = find_dependents(scope), frozenset[UUID]()
    while True:
        widened = replace(scope, memories=scope.memories | private | dependents.pages)
        private |= conceal_derived(widened).gone
        dependents = find_dependents(scope, private, dependents)
        if dependents.pages <= private:
            break
    withdraw_dependents(companion, dependents, scope.now, keeps_log=True)


def clear_summaries(companion: Companion, scope: DeletionScope, messages: Collection[Message]) -> None:
    """Clear what was summed up or noted in the sessions of these messages, and ask for what is to be written anew.

    The next digest or the end of an open session, due in any case, sums up anew; nothing is learnt from twice for that.
    """
    ids = {message.session_id for message in messages}
    opened = Session.objects.filter(companion=companion, ended_at=None).exclude(summary="").first()
    if opened and opened.pk not in ids and find_restatements(scope).stand_in(opened.summary):
        ids.add(opened.pk)
    sessions = list(Session.objects.filter(companion=companion, pk__in=ids))
    for session in sessions:
        session.summary, session.summarised_until, session.scratch = "", None, ""
        session.title = "" if scope.tells(session.title) else session.title
    Session.objects.bulk_update(sessions, ["summary", "summarised_until", "scratch", "title"], batch_size=500)
    _clear_notes(scope)
    # A draft that was made of it, or beside it, is made again.
    Closing.objects.filter(companion=companion).exclude(drafts={}, seen=[]).update(drafts={}, seen=[])
    # Where no broker is reached, beat finds stale entries within a minute.
    enqueue(REWRITE_DIARY)


def _clear_notes(scope: DeletionScope) -> None:
    """Take what tells of it out of the open session's notes: a companion notes what came to its mind."""
    for session in Session.objects.filter(companion_id=scope.companion_id, ended_at=None).exclude(scratch=""):
        lines = [line for line in session.scratch.splitlines() if not scope.tells(line)]
        Session.objects.filter(pk=session.pk).update(scratch="\n".join(lines))

"""Withdraw what was derived from deleted data: learnt memories, diary entries, summaries and drafts; and its dependents
in the companion's life.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from companions.deletion.dependents import Dependents, build_scope, find_dependents
from companions.deletion.traces import WORDLESS
from companions.life.inner_state import BY_A_MODEL, delete_states, get_newest
from companions.models import Closing, Companion, InnerState, Message, Session, Timer, Waking
from jobs.background import enqueue
from memory.deletion import DeletionScope, conceal_derived, find_restatements, remove_derived
from memory.models import Consolidation, Memory

GONE = "gone"  # the reason of a waking that is skipped as what it was about is deleted
REWRITE_DIARY = "companions.sessions.tasks.rewrite_stale_diary"


def withdraw_dependents(
    companion: Companion, found: Dependents, scope: DeletionScope, *, keeps_log: bool = False
) -> None:
    """Cancel the timers and clear their notes, delete the inner states (see `delete_states`), and clear the words of
    the wakings in the log.

    The draft of a consolidation under way is dropped. A waking under way is skipped if it woke because of what is
    deleted, and starts over otherwise. With `keeps_log`, finished wakings keep their words, as their person may still
    see them. The caller must hold the companion's lock.
    """
    Consolidation.objects.filter(companion=companion).exclude(draft={}).update(draft={})
    timers = Timer.everywhere.filter(companion=companion, pk__in=found.timers)
    timers.not_ended().update(state=Timer.State.CANCELLED, ended_at=scope.now)
    timers.exclude(note="").update(note="")
    wakings = Waking.objects.filter(companion=companion, pk__in=found.wakings | found.wrote)
    # A worker that has started one of these finds that the waking is no longer its own.
    waiting = wakings.filter(state=Waking.State.WAITING)
    over = {"state": Waking.State.SKIPPED, "reason": GONE, "look_at": None, "ended_at": scope.now}
    waiting.filter(pk__in=found.woken).update(**over, **WORDLESS)
    waiting.exclude(pk__in=found.woken).update(look_at=scope.now, started_at=None, **WORDLESS)
    if not keeps_log:
        wakings.update(**WORDLESS, shown=[])
        wakings.filter(pk__in=found.woken).update(note="", about=None)
        Session.everywhere.filter(companion=companion, waking__in=found.wakings, messages=None).delete()
    if found.states:
        goes = scope.tells if _rests_on_more(companion, scope) else lambda _sentence: True
        delete_states(companion, found.states, goes, scope.all_messages)


def _rests_on_more(companion: Companion, scope: DeletionScope) -> bool:
    """Return whether the newest inner state rests on messages out of scope, too, or was not drawn from talk at all.

    If there is no inner state, or the scope has no words, return False.
    """
    newest = get_newest(companion.pk)
    if newest is None or not scope.words:
        return False
    is_drawn = newest.by in {*BY_A_MODEL, InnerState.By.DELETION}
    return not is_drawn or bool(set(newest.seen) - scope.all_messages)


def delete_empty_pages(companion: Companion) -> None:
    """Delete the sessions of wakings that have neither a diary entry nor messages left."""
    written = Session.everywhere.filter(companion=companion, waking__isnull=False)
    written.filter(diary_entry=None, messages=None).delete()


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The ids of derived memories that the caller has to delete, of memories that were shortened, and of dependents."""

    gone: frozenset[UUID]
    changed: frozenset[UUID]
    dependents: frozenset[UUID]

    @property
    def ids(self) -> frozenset[UUID]:
        return self.gone | self.changed | self.dependents


def withdraw(companion: Companion, scope: DeletionScope, begun: Dependents | None = None) -> Withdrawn:
    """Withdraw what was derived from the scope; return the ids, of which the caller has to delete `gone`.

    Wakings lead to diary pages, these to memories derived from them, and those to further wakings: repeat to the end.
    """
    dependents = find_dependents(scope, begun=begun)
    gone, changed = frozenset[UUID](), frozenset[UUID]()
    while True:
        derived = remove_derived(replace(scope, memories=scope.memories | gone | dependents.pages))
        gone, changed = gone | derived.gone | dependents.pages, changed | derived.changed
        dependents = find_dependents(scope, gone | changed, dependents)
        if dependents.pages <= gone:
            break
    learnt = Memory.everywhere.of(companion.pk).filter(pk__in=gone | dependents.pages)
    scope = scope.with_memories(dict(learnt.values_list("pk", "text")))
    withdraw_dependents(companion, dependents, scope)
    return Withdrawn(gone, changed - gone, dependents.shown)


def withdraw_corrected(companion: Companion, message: Message, before: str, now: datetime) -> Withdrawn:
    """Withdraw what was derived from words that the message contained `before` it was edited and saved."""
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
    """Return whether a summary or draft of the message's session may have been made with the message."""
    until = message.session.summarised_until
    closings = Closing.objects.filter(session=message.session).exclude(drafts={})
    return message.is_learnt or bool(until and until >= message.said_at) or closings.exists()


def conceal(companion: Companion, scope: DeletionScope) -> None:
    """Make what is in the scope and was derived from it private, unseen by models; withdraw its dependents."""
    dependents, private = find_dependents(scope), frozenset[UUID]()
    while True:
        widened = replace(scope, memories=scope.memories | private | dependents.pages)
        private |= conceal_derived(widened).gone
        dependents = find_dependents(scope, private, dependents)
        if dependents.pages <= private:
            break
    learnt = Memory.everywhere.of(companion.pk).filter(pk__in=private | dependents.pages)
    scope = scope.with_memories(dict(learnt.values_list("pk", "text")))
    withdraw_dependents(companion, dependents, scope, keeps_log=True)


def clear_summaries(companion: Companion, scope: DeletionScope, messages: Collection[Message]) -> None:
    """Clear the summaries and notes of these messages' sessions, and enqueue the rewriting of stale diary entries.

    The next digest or the end of the session, due in any case, makes a new summary; nothing is learnt twice for that.
    """
    ids = {message.session_id for message in messages}
    opened = Session.objects.filter(companion=companion, ended_at=None).exclude(summary="").first()
    if opened and opened.pk not in ids and find_restatements(scope).stand_in(opened.summary):
        ids.add(opened.pk)
    sessions = list(Session.everywhere.filter(companion=companion, pk__in=ids))
    for session in sessions:
        session.summary, session.summarised_until, session.scratch = "", None, ""
        session.title = "" if scope.tells(session.title) else session.title
    Session.everywhere.bulk_update(
        sessions, ["summary", "summarised_until", "scratch", "title"], batch_size=500
    )
    _clear_notes(scope)
    # Drafts of closings may contain what is deleted: they are made again.
    Closing.objects.filter(companion=companion).exclude(drafts={}).update(drafts={})
    # If no broker can be reached, beat finds the stale entries within a minute.
    enqueue(REWRITE_DIARY)


def _clear_notes(scope: DeletionScope) -> None:
    """Remove the lines that share a word with the scope from the open session's scratch notes."""
    for session in Session.objects.filter(companion_id=scope.companion_id, ended_at=None).exclude(scratch=""):
        lines = [line for line in session.scratch.splitlines() if not scope.tells(line)]
        Session.objects.filter(pk=session.pk).update(scratch="\n".join(lines))

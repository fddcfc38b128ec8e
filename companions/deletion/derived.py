"""What was drawn from what goes: learnt, written into the diary, summed up, drafted, lived."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db import transaction

from companions.deletion.lived import Lived, trace
from companions.deletion.withdrawing import withdraw
from companions.models import Closing, Companion, Message, Session
from memory.models import Memory
from memory.unlearning import Gone, conceal, retold, unlearn


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The ids of the memories that are to be deleted, of those that say less than before, and of what was `lived`."""

    deleted: frozenset[UUID]
    changed: frozenset[UUID]
    lived: frozenset[UUID]


def unlearn_all(
    companion: Companion,
    now: datetime,
    *,
    messages: Collection[Message] = (),
    sources: Collection[Message] = (),
    memories: Collection[Memory] = (),
) -> Withdrawn:
    """The memories that go along and those that say less from now on, see `Gone`, and what was lived of it."""
    gone = gone_of(companion, now, messages, sources, memories)
    withdrawn = _unlearn(companion, gone, trace(gone))
    _redraft(companion, gone, messages, sources)
    return withdrawn


def unlearn_corrected(companion: Companion, message: Message, before: str, now: datetime) -> Withdrawn:
    """The same of the words that the message said `before` and, saved with others, says no more."""
    gone = replace(
        gone_of(companion, now, (), [message], ()),
        corrected=frozenset([message.pk]),
        texts=(before,),
        kept=(message.text,),
    )
    withdrawn = _unlearn(companion, gone, trace(gone))
    if _is_drafted(message):
        _redraft(companion, gone, (), [message])
    else:
        _forget_notes(gone)
    return withdrawn


def _unlearn(companion: Companion, gone: Gone, lived: Lived) -> Withdrawn:
    """What was lived leads to pages of the diary, which lead to what was drawn from them, and that to what was lived."""
    deleted, changed = frozenset[UUID](), frozenset[UUID]()
    while True:
        unlearnt = unlearn(replace(gone, memories=gone.memories | deleted | lived.pages))
        deleted |= unlearnt.deleted | lived.pages
        changed |= unlearnt.changed
        lived = trace(gone, deleted | changed, lived)
        if lived.pages <= deleted:
            break
    withdraw(companion, lived, gone.now)
    return Withdrawn(deleted, changed - deleted, lived.ids)


def withdraw_all(companion: Companion, lived: Lived, now: datetime) -> Withdrawn:
    """The same of what was lived, and nobody said."""
    gone = gone_of(companion, now, (), (), ())
    return _unlearn(companion, gone, trace(gone, begun=lived))


def _is_drafted(message: Message) -> bool:
    """Whether something that sums up its session may have been made with it: it is sent as it is else."""
    until = message.session.summarised_until
    closings = Closing.objects.filter(session=message.session).exclude(drafts={}, seen=[])
    return message.is_learnt or bool(until and until >= message.said_at) or closings.exists()


def conceal_all(
    companion: Companion,
    now: datetime,
    *,
    messages: Collection[Message] = (),
    sources: Collection[Message] = (),
    memories: Collection[Memory] = (),
) -> set[UUID]:
    """The ids of the memories that are private from now on, with what was drawn from them."""
    gone = gone_of(companion, now, messages, sources, memories)
    lived, private = trace(gone), set[UUID]()
    while True:
        private |= conceal(replace(gone, memories=gone.memories | private | lived.pages))
        lived = trace(gone, private, lived)
        if lived.pages <= private:
            break
    withdraw(companion, lived, now, is_seen=True)
    _redraft(companion, gone, messages, sources)
    return private


def gone_of(
    companion: Companion,
    now: datetime,
    messages: Collection[Message],
    sources: Collection[Message],
    memories: Collection[Memory],
) -> Gone:
    return Gone(
        companion_id=companion.pk,
        now=now,
        zone=companion.user.zone,
        names=tuple(companion.names.values()),
        messages=frozenset(one.pk for one in messages),
        sources=frozenset(one.pk for one in sources),
        memories=frozenset(one.pk for one in memories),
        texts=(*(one.text for one in messages), *(one.text for one in memories)),
    )


def _redraft(
    companion: Companion, gone: Gone, messages: Collection[Message], sources: Collection[Message]
) -> None:
    """Summaries and notes that told of it are gone, and whatever is to be written anew is asked for."""
    _forget_summaries(gone, {one.session_id for one in (*messages, *sources)} | _retelling(gone))
    # A draft that was made of it, or beside it, is made again.
    Closing.objects.filter(companion=companion).exclude(drafts={}, seen=[]).update(drafts={}, seen=[])
    transaction.on_commit(_ask_for_diary, robust=True)


def _retelling(gone: Gone) -> set[UUID]:
    """The open session where its summary tells again what goes."""
    opened = Session.objects.filter(companion_id=gone.companion_id, ended_at=None).exclude(summary="").first()
    return {opened.pk} if opened and retold(gone).is_told(opened.summary) else set()


def _ask_for_diary() -> None:
    """What is stale is written anew. Where no broker is reached, beat finds it within a minute."""
    from companions.sessions.tasks import rewrite_stale_diary

    rewrite_stale_diary.delay()


def _forget_summaries(gone: Gone, session_ids: Collection[UUID]) -> None:
    """What was summed up or noted in these sessions is gone.

    The next digest or the end of an open one, due in any case, sums up anew; nothing is learnt from twice for that.
    """
    sessions = list(Session.objects.filter(companion_id=gone.companion_id, pk__in=session_ids))
    for session in sessions:
        session.summary, session.summarised_until, session.scratch = "", None, ""
        if gone.tells(session.title):
            session.title = ""
    Session.objects.bulk_update(sessions, ["summary", "summarised_until", "scratch", "title"], batch_size=500)
    _forget_notes(gone)


def _forget_notes(gone: Gone) -> None:
    """The open session's notes go as well where they tell of it: a companion notes what came to its mind."""
    for session in Session.objects.filter(companion_id=gone.companion_id, ended_at=None).exclude(scratch=""):
        lines = [line for line in session.scratch.splitlines() if not gone.tells(line)]
        Session.objects.filter(pk=session.pk).update(scratch="\n".join(lines))

"""What was drawn from what goes: learnt, written into the diary, summed up, drafted."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db import transaction

from companions.models import Closing, Companion, Message, Session
from memory.models import Memory
from memory.unlearning import Gone, Unlearnt, conceal, retold, unlearn


def unlearn_all(
    companion: Companion,
    now: datetime,
    *,
    messages: Collection[Message] = (),
    sources: Collection[Message] = (),
    memories: Collection[Memory] = (),
) -> Unlearnt:
    """The memories that go along and those that say less from now on, see `Gone`."""
    gone = _gone(companion, now, messages, sources, memories)
    unlearnt = unlearn(gone)
    _redraft(companion, gone, messages, sources)
    return unlearnt


def conceal_all(
    companion: Companion,
    now: datetime,
    *,
    messages: Collection[Message] = (),
    sources: Collection[Message] = (),
    memories: Collection[Memory] = (),
) -> set[UUID]:
    """The ids of the memories that are private from now on, with what was drawn from them."""
    gone = _gone(companion, now, messages, sources, memories)
    private = conceal(gone)
    _redraft(companion, gone, messages, sources)
    return private


def _gone(
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

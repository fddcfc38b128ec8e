"""Going to another message of a conversation: what was known there is known again, and nothing else."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils.translation import gettext as _

from companions.branches.marks import drop_changes, move_marks
from companions.errors import ReplyStateError
from companions.models import Branch, Closing, Companion, Conversation, Job, Message, Reply, Waking
from database.journal import replaying
from database.queries import lift_statement_timeout

CHANGED = "branch_changed"
# From a message back to the first one: those who sleep, and the awake one where they part from the chosen path.
ASLEEP = """
WITH RECURSIVE path AS (
    SELECT id, parent_id, is_asleep FROM companions_message WHERE id = %s AND conversation_id = %s
  UNION ALL
    SELECT message.id, message.parent_id, message.is_asleep
    FROM companions_message message JOIN path ON message.id = path.parent_id WHERE path.is_asleep
)
SELECT (SELECT id FROM path WHERE NOT is_asleep), ARRAY(SELECT id FROM path WHERE is_asleep)::text
"""
# From the end of the chosen path back to where one stays, without that.
AWAKE = """
WITH RECURSIVE path AS (
    SELECT id, parent_id FROM companions_message WHERE id = %(head)s AND id IS DISTINCT FROM %(stay)s
  UNION ALL
    SELECT message.id, message.parent_id
    FROM companions_message message JOIN path ON message.id = path.parent_id
    WHERE message.id IS DISTINCT FROM %(stay)s
)
SELECT ARRAY(SELECT id FROM path)::text, (SELECT count(*) FROM path)
"""
# After which of these messages, or at which end of a branch, something changed of what is known.
MARKS = """
SELECT ARRAY(
    SELECT DISTINCT at FROM companions_journalentry JOIN unnest(%s::uuid[] || %s::uuid) AS mark ON at = mark
    WHERE companion_id = %s
)::text
"""
# Wakes or puts asleep what was said there, with what mirrors it in memory, and sets what the journal tells of messages
# (their session, and that they are learnt from: an entry for almost every one; of several the last that is replayed wins,
# for each column by itself). Each row is written once: with room on its page and the flag in no index, no index is
# touched, and no reference is checked.
TURN = """
WITH path AS (
    SELECT unnest(%(ids)s::uuid[]) AS id
), told AS (
    SELECT change.row::uuid AS id,
        (array_agg(content ->> 'is_learnt' ORDER BY step DESC) FILTER (WHERE content ? 'is_learnt'))[1] AS is_learnt,
        (array_agg(content ->> 'session_id' ORDER BY step DESC) FILTER (WHERE content ? 'session_id'))[1] AS session_id
    FROM companions_journalentry change, LATERAL (
        SELECT CASE WHEN %(is_forward)s THEN change.id ELSE -change.id END AS step,
               CASE WHEN %(is_forward)s THEN change.after ELSE change.before END AS content
    ) replayed
    WHERE change.companion_id = %(companion)s AND change.at = ANY(%(marks)s::uuid[])
      AND change.is_undone = %(is_forward)s AND change.table = 'companions_message' AND change.kind = 'update'
    GROUP BY change.row
), turned AS (
    UPDATE companions_message message
    SET is_asleep = CASE WHEN there.is_on_path THEN NOT %(is_forward)s ELSE message.is_asleep END,
        is_learnt = coalesce(there.is_learnt::boolean, message.is_learnt),
        session_id = coalesce(there.session_id::uuid, message.session_id)
    FROM (
        SELECT id, is_learnt, session_id, path.id IS NOT NULL AS is_on_path FROM path FULL JOIN told USING (id)
    ) there
    WHERE message.id = there.id
)
UPDATE memory_memory memory SET is_asleep = NOT %(is_forward)s FROM path
WHERE memory.message_id = path.id AND memory.is_asleep = %(is_forward)s
"""
REPLAY = "SELECT companions_replay(%(companion)s, %(marks)s::uuid[], %(is_forward)s)"

# From a message on, at each step by what was said last.
ONWARD = """
WITH RECURSIVE path AS (
    SELECT %s::uuid AS id, 0 AS depth
  UNION ALL
    SELECT following.id, path.depth + 1 FROM path JOIN LATERAL (
        SELECT id FROM companions_message WHERE parent_id = path.id ORDER BY said_at DESC, id DESC LIMIT 1
    ) following ON true
)
SELECT id FROM path ORDER BY depth DESC LIMIT 1
"""


def check_no_answer(companion: Companion) -> None:
    """Raise ReplyStateError while the companion answers, or has something to answer."""
    if Reply.objects.filter(companion=companion, state__in=Reply.OPEN).exists():
        detail = _("%(name)s is answering right now. Wait for the answer, or stop it.")
        raise ReplyStateError("reply_open", detail % {"name": companion.name})


def part(companion: Companion, target: UUID | None, now: datetime, branch: Branch | None = None) -> int:
    """Go on from that message, before the first one for None, on that branch or a new one. The branch that is left can
    be come back to. Return how many messages are left with it.

    Call it with the companion held, and where no reply is open.
    """
    conversation = companion.conversation
    _give_up_closing(companion.pk)
    begun = Waking.objects.waiting().filter(companion=companion, started_at__isnull=False)
    begun.update(look_at=now, started_at=None, prompt=[], steps=[], thought="", text="")  # they begin anew
    left = conversation.branch
    if conversation.head_id is not None:
        if left is None:
            left = Branch(companion=companion, conversation=conversation, made_at=conversation.created_at)
        left.head_id, left.left_at = conversation.head_id, now
        left.save()
    if branch is None and target is not None:
        branch = Branch.objects.create(
            companion=companion, conversation=conversation, head_id=target, made_at=now
        )
    return _go_to(conversation, target, left, branch)


def go_back(companion: Companion, message: Message, now: datetime) -> int:
    """Go to where the talk went on from a message that is asleep: to what was said last after it. Return how many
    messages are left.

    Call it with the companion held, and where no reply is open.
    """
    end = find_end(message)
    return part(companion, end, now, Branch.objects.filter(companion=companion, head=end).first())


def find_end(message: Message) -> UUID:
    """Return what was said last on the way on from this message, at each step the latest."""
    with connection.cursor() as cursor:
        cursor.execute(ONWARD, [message.pk])
        [end] = cursor.fetchone()
    return UUID(str(end))


def _go_to(
    conversation: Conversation, target: UUID | None, left: Branch | None, branch: Branch | None
) -> int:
    """Let the path end with that message on that branch, and have known what was known there; return how many messages
    are left.

    What was made where a branch ends is marked with the branch, and with the conversation while it is chosen.
    """
    companion_id = conversation.companion_id
    lift_statement_timeout()  # a hundred thousand messages take some seconds
    with replaying():
        stay, joining = _ask(ASLEEP, [target, conversation.pk])
        leaving, count = _ask(AWAKE, {"head": conversation.head_id, "stay": stay})
        _turn(companion_id, leaving, conversation.pk, is_forward=False)
        _turn(companion_id, joining, branch.pk if branch else None, is_forward=True)
        if left is None:  # nothing leads back to before the first message
            drop_changes(companion_id, [conversation.pk])
        moved = {conversation.pk: left.pk} if left else {}
        move_marks(companion_id, moved | ({branch.pk: conversation.pk} if branch else {}))
        conversation.branch, conversation.head_id = branch, target
        conversation.save(update_fields=["branch", "head"])
    return int(count)


def _give_up_closing(companion_id: UUID) -> None:
    """Let a session that was to end go on: it was to end with what is left."""
    waiting = Closing.objects.open().filter(companion=companion_id)
    Job.objects.filter(closing__in=waiting).update(error=CHANGED)
    waiting.delete()


def _ask(query: str, parameters: Sequence[Any] | Mapping[str, Any]) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        row: tuple[Any, ...] = cursor.fetchone()
        return row


def _turn(companion_id: UUID, ids: str, end: UUID | None, *, is_forward: bool) -> None:
    """Wake these messages and what became known after them and at that end of a branch, or put both asleep.

    `ids` is an array as Postgres writes it, which need not be read: that takes longer than some of the work.
    """
    [marks] = _ask(MARKS, [ids, end, companion_id])
    if ids == marks == "{}":
        return
    with connection.cursor() as cursor:
        for query in (TURN, REPLAY):
            cursor.execute(
                query, {"ids": ids, "marks": marks, "companion": companion_id, "is_forward": is_forward}
            )

"""Switch a conversation to another message, and restore what the companion knew there."""

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
# Walk back from a message: return the messages asleep, and the awake one where they fork off the chosen path.
ASLEEP = """
WITH RECURSIVE path AS (
    SELECT id, parent_id, is_asleep FROM companions_message WHERE id = %s AND conversation_id = %s
  UNION ALL
    SELECT message.id, message.parent_id, message.is_asleep
    FROM companions_message message JOIN path ON message.id = path.parent_id WHERE path.is_asleep
)
SELECT (SELECT id FROM path WHERE NOT is_asleep), ARRAY(SELECT id FROM path WHERE is_asleep)::text
"""
# Walk back from the end of the chosen path to the message `stay`, and return the messages without that one.
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
# Return which of these messages, and of the branch's end, are marks of journaled changes.
MARKS = """
SELECT ARRAY(
    SELECT DISTINCT at FROM companions_journalentry JOIN unnest(%s::uuid[] || %s::uuid) AS mark ON at = mark
    WHERE companion_id = %s
)::text
"""
# Wake the messages of the path or put them asleep, together with their memories, and replay the journaled changes of
# messages: their session, and whether they are learnt from. Almost every message has such an entry; of several, the one
# replayed last wins, for each column separately. Each row is written only once: with room on its page and the flag in
# no index, no index is touched, and no foreign key is checked.
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

# Walk on from a message, at each step to its newest child.
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
    """Raise ReplyStateError while a reply of the companion is queued or under way."""
    if Reply.objects.open().filter(companion=companion).exists():
        detail = _("%(name)s is answering right now. Wait for the answer, or stop it.")
        raise ReplyStateError("reply_open", detail % {"name": companion.name})


def switch_to(companion: Companion, target: UUID | None, now: datetime, branch: Branch | None = None) -> int:
    """Continue the conversation from the message `target` on `branch` or a new one, or from before the first message,
    without a branch, if both are None. Return how many messages are no longer on the chosen path.

    The path that is left is kept as a branch, unless it is empty. A waiting closing is cancelled, and a waking that has
    begun starts over. Call it with the companion held and no reply open.
    """
    conversation = companion.conversation
    closings = Closing.objects.open().filter(companion=companion)
    Job.objects.filter(closing__in=closings).update(error=CHANGED)
    closings.delete()  # its session was to end with messages that are left behind
    begun = Waking.objects.waiting().filter(companion=companion, started_at__isnull=False)
    begun.update(look_at=now, started_at=None, prompt=[], steps=[], thought="", text="")  # they start over
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
    """Switch to the newest continuation of a message that is asleep; return how many messages are no longer on the
    chosen path.

    Call it with the companion held and no reply open.
    """
    end = find_end(message)
    return switch_to(companion, end, now, Branch.objects.filter(companion=companion, head=end).first())


def find_end(message: Message) -> UUID:
    """Return the id of the last message of the path that leads from this one to the newest child at each step."""
    with connection.cursor() as cursor:
        cursor.execute(ONWARD, [message.pk])
        [end] = cursor.fetchone()
    return UUID(str(end))


def _go_to(
    conversation: Conversation, target: UUID | None, left: Branch | None, branch: Branch | None
) -> int:
    """Make `target` on `branch` the end of the chosen path, and restore what was known there; return how many messages
    are no longer on the path.

    Changes made at a branch's end are marked with the branch, or with the conversation while that branch is chosen.
    """
    companion_id = conversation.companion_id
    lift_statement_timeout()  # a hundred thousand messages take some seconds
    with replaying():
        stay, joining = _fetch_row(ASLEEP, [target, conversation.pk])
        leaving, count = _fetch_row(AWAKE, {"head": conversation.head_id, "stay": stay})
        _turn(companion_id, leaving, conversation.pk, is_forward=False)
        _turn(companion_id, joining, branch.pk if branch else None, is_forward=True)
        if left is None:  # no branch leads back to before the first message
            drop_changes(companion_id, [conversation.pk])
        moved = {conversation.pk: left.pk} if left else {}
        move_marks(companion_id, moved | ({branch.pk: conversation.pk} if branch else {}))
        conversation.branch, conversation.head_id = branch, target
        conversation.save(update_fields=["branch", "head"])
    return int(count)


def _fetch_row(query: str, parameters: Sequence[Any] | Mapping[str, Any]) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        row: tuple[Any, ...] = cursor.fetchone()
        return row


def _turn(companion_id: UUID, ids: str, end: UUID | None, *, is_forward: bool) -> None:
    """Wake the messages and redo the changes made after them and at the branch's `end`, or put to sleep and undo them.

    `ids` is an array literal of Postgres. It is not parsed, since that takes longer than some of the work.
    """
    [marks] = _fetch_row(MARKS, [ids, end, companion_id])
    if ids == marks == "{}":
        return
    with connection.cursor() as cursor:
        for query in (TURN, REPLAY):
            cursor.execute(
                query, {"ids": ids, "marks": marks, "companion": companion_id, "is_forward": is_forward}
            )

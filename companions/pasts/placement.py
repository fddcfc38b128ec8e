"""Where imported messages go in a conversation: into its chosen path, ordered by time; alternatives on branches."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple
from uuid import UUID, uuid5

from django.db import connection

from companions.conversations.messages import WALK
from companions.models import Branch, Companion, Conversation, Message, PastImport
from companions.pasts.plan import MIN_BRANCH_MESSAGES, Plan

MAX_BRANCHES = 1_000  # of one import; further alternatives are still shown at the message that they replace
EVERYTHING = 1_000_000
STEPS = WALK.format(columns="message.id, message.parent_id, message.said_at")
MOVE = """
UPDATE companions_message message SET parent_id = moved.parent
FROM unnest(%s::uuid[], %s::uuid[]) AS moved (id, parent) WHERE message.id = moved.id
"""


class Step(NamedTuple):
    """A message of the path, reduced to what determines its place."""

    pk: UUID
    parent_id: UUID | None
    said_at: datetime


def weave_in(conversation: Conversation, messages: Sequence[Message]) -> None:
    """Merge messages into the chosen path by their times; of messages with the same time, those of the path come first.

    The path keeps its order, by which changes are undone, even if a clock went back or a message lies in the future.
    The messages must be saved and awake. Call it with the companion held.
    """
    if not messages:
        return
    new = [Step(message.pk, message.parent_id, message.said_at) for message in messages]
    path = _load_steps(conversation)
    latest = accumulate((step.said_at for step in path), max)
    placed = [*zip(latest, path, strict=True), *((step.said_at, step) for step in new)]
    woven = [step for _at, step in sorted(placed, key=itemgetter(0))]
    moved = [
        (later.pk, earlier.pk if earlier else None)
        for later, earlier in zip(woven, [None, *woven[:-1]], strict=True)
        if later.parent_id != (earlier.pk if earlier else None)
    ]
    with connection.cursor() as cursor:  # thousands may move, each to another parent
        cursor.execute(MOVE, [[pk for pk, _ in moved], [parent for _, parent in moved]])
    Conversation.objects.filter(pk=conversation.pk).update(head=woven[-1].pk)


def _load_steps(conversation: Conversation) -> list[Step]:
    """Return the chosen path, first message first."""
    named = {"start": conversation.head_id, "conversation": conversation.pk}
    with connection.cursor() as cursor:
        cursor.execute(STEPS, named | {"limit": EVERYTHING, "session": None})
        return [Step(*row) for row in cursor.fetchall()][::-1]


def make_branches(companion: Companion, past: PastImport, plan: Plan, places: Mapping[str, UUID]) -> None:
    """Make a branch of each alternative of at least MIN_BRANCH_MESSAGES messages, in all at most MAX_BRANCHES.

    `places` are the ids of the messages by their keys. It may be called again. Call it with the companion held.
    """
    wanted = [places[key] for key, length in plan.leaves if length >= MIN_BRANCH_MESSAGES and key in places][
        :MAX_BRANCHES
    ]
    ends = Message.everywhere.filter(pk__in=wanted, job=past.job_id, is_asleep=True)
    branches = [
        Branch(
            id=uuid5(past.pk, f"branch {pk}"),
            companion=companion,
            conversation=companion.conversation,
            head_id=pk,
            made_at=said_at,
            left_at=said_at,
        )
        for pk, said_at in ends.values_list("pk", "said_at")
    ]
    if not branches:
        return
    conversation = Conversation.objects.get(pk=companion.conversation.pk)
    if conversation.branch_id is None and conversation.head_id is not None:
        conversation.branch = Branch.objects.create(
            companion=companion,
            conversation=conversation,
            head_id=conversation.head_id,
            made_at=conversation.created_at,
        )
        conversation.save(update_fields=["branch"])
    Branch.objects.bulk_create(branches, ignore_conflicts=True)

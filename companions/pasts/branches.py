"""Branches for the alternatives of an imported past that the talk went on from."""

from collections.abc import Mapping
from uuid import UUID, uuid5

from companions.models import Branch, Companion, Conversation, Message, PastImport
from companions.pasts.plan import SHORTEST_BRANCH, Plan

MOST = 1_000  # of one import; further alternatives are still shown at the message that they replace


def make_branches(companion: Companion, past: PastImport, plan: Plan, places: Mapping[str, UUID]) -> None:
    """Make a branch of each alternative of at least SHORTEST_BRANCH messages, in all at most MOST.

    `places` are the ids of the messages by their keys. It may be called again. Call it with the companion held.
    """
    wanted = [places[key] for key, length in plan.leaves if length >= SHORTEST_BRANCH and key in places][
        :MOST
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

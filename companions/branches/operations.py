"""What a user can do with branches: reword a message on a new one, fork from a message, and choose, compare, name and
delete branches.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from uuid import UUID

from django.db import transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from companions.branches.marks import drop_changes
from companions.branches.switching import check_no_answer, go_back, switch_to
from companions.conversations.attachments import copy_attachments
from companions.conversations.messages import load_path
from companions.deletion import delete_messages
from companions.errors import BranchError, TextError
from companions.events import notify_companion
from companions.models import Branch, Companion, Conversation, Message
from companions.models.branch import BRANCH_NAME_CHARACTERS
from companions.models.companion import hold
from companions.replies.lifecycle import Start, Started, start
from database.queries import fetch_ids
from text.strings import one_line

MAX_BRANCHES = 10_000  # of a companion
MAX_PATH = 2_000  # messages searched backwards for the one that two branches have in common
MAX_COMPARED = 200  # messages shown of each branch, the first ones after the common message
# Walk back from a branch's end while the message is asleep, no other branch ends there, and nothing else follows it.
OWN = """
WITH RECURSIVE own AS (
    SELECT message.id, message.parent_id FROM companions_message message
    WHERE message.id = %(head)s AND message.is_asleep
      AND NOT EXISTS (SELECT FROM companions_branch other WHERE other.head_id = message.id AND other.id <> %(branch)s)
      AND NOT EXISTS (SELECT FROM companions_message child WHERE child.parent_id = message.id)
  UNION ALL
    SELECT message.id, message.parent_id FROM companions_message message JOIN own ON message.id = own.parent_id
    WHERE message.is_asleep
      AND NOT EXISTS (SELECT FROM companions_branch other WHERE other.head_id = message.id AND other.id <> %(branch)s)
      AND NOT EXISTS (SELECT FROM companions_message child WHERE child.parent_id = message.id AND child.id <> own.id)
)
SELECT id FROM own
"""


def say_anew(message: Message, quoted: UUID | None = None) -> Start:
    """Return a `start` that sends a new message in place of the user's `message`, on a new branch.

    The new message quotes `quoted`, or else what the earlier one quoted, unless that is hidden, and gets the earlier
    one's files. The `start` raises BranchError, ReplyStateError, TextError if the message is gone, and what
    `lifecycle.start` raises; then nothing has changed.
    """

    @transaction.atomic
    def begin(
        companion: Companion, text: str, client_id: str | None, now: datetime, /, *, at_once: bool
    ) -> Started:
        held = _hold(companion)
        there = Message.everywhere.filter(companion=held, pk=message.pk, role=Message.Role.USER).first()
        if there is None:
            raise TextError("no_such_message", _("You have no such message."))
        if client_id and Message.everywhere.filter(companion=held, client_id=client_id).exists():
            return start(held, text, client_id, now, at_once=at_once, quoted=quoted)  # a repeated request
        _check_may_branch(held)
        switch_to(held, there.parent_id, now)
        _notify_pages(held)
        still = there.quoted_id if there.quoted and not there.quoted.is_hidden else None
        started = start(held, text, client_id, now, at_once=at_once, quoted=quoted or still)
        copy_attachments(there, started.message)
        return started

    return begin


@transaction.atomic
def fork(companion: Companion, message_id: UUID, now: datetime, name: str = "") -> Branch:
    """Create, choose and return a new branch that ends with the message; raise BranchError or ReplyStateError."""
    held = _hold(companion)
    if not Message.everywhere.filter(companion=held, pk=message_id).exists():
        raise BranchError("no_such_message", _("There is no such message."), 404)
    _check_may_branch(held)
    switch_to(held, message_id, now)
    _notify_pages(held)
    branch = held.conversation.branch
    assert branch is not None  # noqa: S101 (it was just made)
    return rename(branch, name) if name else branch


def load_branches(companion: Companion) -> QuerySet[Branch]:
    """Return the companion's branches, newest first, annotated with `is_chosen` and with the id and the text of their
    last message (`end`, `last`): of the chosen branch, that of the conversation, if it has one.
    """
    chosen = Q(pk=F("conversation__branch"))
    return Branch.objects.filter(companion=companion).annotate(
        is_chosen=Case(When(chosen, then=Value(True)), default=Value(False)),
        end=Coalesce(Case(When(chosen, then=F("conversation__head"))), F("head")),
        last=Coalesce(Case(When(chosen, then=F("conversation__head__text"))), F("head__text")),
    )


@dataclass(frozen=True, slots=True)
class ComparedBranches:
    """The last message that two branches have in common, and what follows it on the other branch and the chosen one."""

    common: Message | None
    there: Sequence[Message]
    here: Sequence[Message]


def compare_branches(conversation: Conversation, branch: Branch) -> ComparedBranches:
    """Return the last message that the branch and the chosen one have in common, and the first `MAX_COMPARED` messages
    that follow it on each.
    """
    theirs = load_path(conversation, branch.head_id, MAX_PATH)
    mine = load_path(conversation, conversation.head_id, MAX_PATH)
    common = next((message for message in theirs if not message.is_asleep), None)

    def since(path: Sequence[Message]) -> list[Message]:
        return list(takewhile(lambda message: message != common, path))[::-1][:MAX_COMPARED]

    return ComparedBranches(common, since(theirs), since(mine))


@transaction.atomic
def choose(branch: Branch, now: datetime) -> Branch:
    """Switch to the end of the branch, unless it is chosen, and return it; raise BranchError or ReplyStateError."""
    held = _hold(branch.companion)
    there = Branch.objects.filter(companion=held, pk=branch.pk).first()
    if there is None:
        raise BranchError("no_such_branch", _("This branch no longer exists."), 404)
    if held.conversation.branch_id != there.pk:
        check_no_answer(held)
        switch_to(held, there.head_id, now, there)
        _notify_pages(held)
    return there


@transaction.atomic
def choose_alternative(message: Message, now: datetime) -> int:
    """Switch to the newest continuation of the message, unless it is on the chosen path already.

    Return how many messages are no longer on the chosen path; raise BranchError or ReplyStateError.
    """
    held = _hold(message.companion)
    there = Message.everywhere.filter(companion=held, pk=message.pk).first()
    if there is None:
        raise BranchError("no_such_message", _("There is no such message."), 404)
    if not there.is_asleep:
        return 0
    check_no_answer(held)
    count = go_back(held, there, now)
    _notify_pages(held)
    return count


def rename(branch: Branch, name: str) -> Branch:
    """Name the branch, in one line of at most `BRANCH_NAME_CHARACTERS`, and return it."""
    branch.name = one_line(name)[:BRANCH_NAME_CHARACTERS]
    branch.save(update_fields=["name"])
    return branch


@transaction.atomic
def delete(branch: Branch, now: datetime) -> int:
    """Delete the branch with the messages on it alone and all that was drawn from them; return how many messages.

    Raise BranchError if it is the chosen branch.
    """
    held = _hold(branch.companion)
    there = Branch.objects.filter(companion=held, pk=branch.pk).first()
    if there is None:
        return 0
    if held.conversation.branch_id == there.pk:
        raise BranchError(
            "branch_chosen", _("You are on this branch. Switch to another one before you delete it.")
        )
    ids, end = find_own_messages(there), there.pk
    there.delete()
    count = delete_messages(held.pk, ids, now)
    drop_changes(held.pk, [end])
    return count


def _hold(companion: Companion) -> Companion:
    held = hold(companion.pk)
    if held is None:
        raise BranchError("no_such_companion", _("You have no such companion."), 404)
    return held


def _notify_pages(companion: Companion) -> None:
    """Notify the pages that show the conversation, after the commit, that another branch is chosen."""
    notify_companion(companion.pk, {"type": "branch.chosen"})


def _check_may_branch(companion: Companion) -> None:
    """Raise ReplyStateError or BranchError if no branch may be made now."""
    check_no_answer(companion)
    if Branch.objects.filter(companion=companion).count() >= MAX_BRANCHES:
        most = f"{MAX_BRANCHES:,}"
        raise BranchError(
            "too_many_branches",
            _("There are already %(most)s branches. Delete some of them first.") % {"most": most},
        )


def find_own_messages(branch: Branch) -> list[UUID]:
    """Return the ids of the messages that are on this branch alone, from its end back to where another path forks."""
    return fetch_ids(OWN, {"head": branch.head_id, "branch": branch.pk})

"""What a person does with branches: say something anew, part from a message, go to another branch, compare two, name or
delete one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.utils.translation import gettext as _

from companions.branches.marks import drop_changes
from companions.branches.switching import check_no_answer, go_back, part
from companions.conversations.attachments import copy_attachments
from companions.conversations.messages import load_path
from companions.deletion import delete_messages
from companions.errors import BranchError, TextError
from companions.events import notify_companion
from companions.models import Branch, Companion, Conversation, Message
from companions.models.branch import BRANCH_NAME_CHARACTERS
from companions.models.companion import hold
from companions.replies.lifecycle import Start, Started, start
from text.strings import one_line

MAX_BRANCHES = 10_000  # of a companion
MAX_PATH = 2_000  # messages that are walked back to where two branches part
MAX_COMPARED = 200  # messages of each that are shown, the first since then
# From a branch's end back, as long as what was said is asleep, no other branch ends there, and nothing else follows it.
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
    """Return a `start` that says something in the place of that message of the person's, on a branch of its own.

    It quotes what is to be `quoted`, or what the earlier one quoted, and has the earlier one's files. It raises
    BranchError, ReplyStateError and what `start` raises; then nothing has changed.
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
            return start(held, text, client_id, now, at_once=at_once)  # it was sent before
        _prepare(held)
        part(held, there.parent_id, now)
        _tell(held)
        still = there.quoted_id if there.quoted and not there.quoted.is_hidden else None
        started = start(held, text, client_id, now, at_once=at_once, quoted=quoted or still)
        copy_attachments(there, started.message)
        return started

    return begin


@transaction.atomic
def part_from(companion: Companion, message_id: UUID, now: datetime, name: str = "") -> Branch:
    """Return a new branch, which is chosen, that ends with that message. BranchError, ReplyStateError."""
    held = _hold(companion)
    if not Message.everywhere.filter(companion=held, pk=message_id).exists():
        raise BranchError("no_such_message", _("There is no such message."))
    _prepare(held)
    part(held, message_id, now)
    _tell(held)
    branch = held.conversation.branch
    assert branch is not None  # noqa: S101 (it was just made)
    return rename(branch, name) if name else branch


def load_branches(companion: Companion) -> QuerySet[Branch]:
    """Return its branches, the newest first, with the id and the text of the last message of each (`end`, `last`), and
    which is chosen (`is_chosen`): that one ends where the talk does.
    """
    chosen = Q(pk=F("conversation__branch"))
    return Branch.objects.filter(companion=companion).annotate(
        is_chosen=Case(When(chosen, then=Value(True)), default=Value(False)),
        end=Case(When(chosen, then=F("conversation__head")), default=F("head")),
        last=Case(When(chosen, then=F("conversation__head__text")), default=F("head__text")),
    )


@dataclass(frozen=True, slots=True)
class ComparedBranches:
    """The last message that both have, and what was said since: there, and on the chosen branch."""

    common: Message | None
    there: Sequence[Message]
    here: Sequence[Message]


def compare_branches(conversation: Conversation, branch: Branch) -> ComparedBranches:
    """Compare the branch with the chosen one, of which nothing is asleep."""
    theirs = load_path(conversation, branch.head_id, MAX_PATH)
    mine = load_path(conversation, conversation.head_id, MAX_PATH)
    common = next((message for message in theirs if not message.is_asleep), None)

    def since(path: Sequence[Message]) -> list[Message]:
        return list(takewhile(lambda message: message != common, path))[::-1][:MAX_COMPARED]

    return ComparedBranches(common, since(theirs), since(mine))


@transaction.atomic
def choose(branch: Branch, now: datetime) -> Branch:
    """Go to the end of that branch, and return it; nothing happens where it is chosen. BranchError, ReplyStateError."""
    held = _hold(branch.companion)
    there = Branch.objects.filter(companion=held, pk=branch.pk).first()
    if there is None:
        raise BranchError("no_such_branch", _("This branch no longer exists."))
    if held.conversation.branch_id != there.pk:
        check_no_answer(held)
        part(held, there.head_id, now, there)
        _tell(held)
    return there


@transaction.atomic
def choose_alternative(message: Message, now: datetime) -> int:
    """Go to where the talk went on from this message: to what was said last after it.

    Return how many messages are left, which are on another branch now. BranchError, ReplyStateError.
    """
    held = _hold(message.companion)
    there = Message.everywhere.filter(companion=held, pk=message.pk).first()
    if there is None:
        raise BranchError("no_such_message", _("There is no such message."))
    if not there.is_asleep:
        return 0
    check_no_answer(held)
    count = go_back(held, there, now)
    _tell(held)
    return count


def rename(branch: Branch, name: str) -> Branch:
    """Give the branch that name, in one line of at most 80 characters, and return it."""
    branch.name = one_line(name)[:BRANCH_NAME_CHARACTERS]
    branch.save(update_fields=["name"])
    return branch


@transaction.atomic
def delete(branch: Branch, now: datetime) -> int:
    """Delete the branch with what was said on it alone, and all that was drawn from that; return how many messages.

    BranchError where it is the chosen one.
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
        raise BranchError("no_such_companion", _("You have no such companion."))
    return held


def _tell(companion: Companion) -> None:
    """Have the pages that show the talk show the chosen branch, after the commit."""
    notify_companion(companion.pk, {"type": "branch.chosen"})


def _prepare(companion: Companion) -> None:
    """Raise where no branch may be made now."""
    check_no_answer(companion)
    if Branch.objects.filter(companion=companion).count() >= MAX_BRANCHES:
        most = f"{MAX_BRANCHES:,}"
        raise BranchError(
            "too_many_branches",
            _("There are already %(most)s branches. Delete some of them first.") % {"most": most},
        )


def find_own_messages(branch: Branch) -> list[UUID]:
    """Return what was said on this branch alone: from its end back to where another part of the talk goes on."""
    with connection.cursor() as cursor:
        cursor.execute(OWN, {"head": branch.head_id, "branch": branch.pk})
        return [id for (id,) in cursor.fetchall()]

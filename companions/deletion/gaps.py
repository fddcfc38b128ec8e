"""Closing the gaps that deleted messages leave in a talk: what followed them, what ended with them, what was made after
them.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from companions.branches.marks import drop_changes, move_marks
from companions.models import Branch, Companion, Conversation, Message


def delete_rows(companion: Companion, messages: Collection[Message]) -> None:
    """Delete the messages themselves. What followed one follows what came before it, and what was made after it counts
    as made where all that knew of it still leads.
    """
    gone = {message.pk: message for message in messages}
    before = {pk: message.parent_id for pk, message in gone.items()}
    found: dict[UUID | None, UUID | None] = {}

    def earlier(id: UUID | None) -> UUID | None:
        passed = []
        while id in before and id not in found:
            passed.append(id)
            id = before[id]
        id = found.get(id, id)
        found.update(dict.fromkeys(passed, id))
        return id

    near = Q(parent__in=before) | Q(parent__in=set(before.values())) | Q(pk__in=set(before.values()))
    if None in before.values():
        near |= Q(parent=None, companion=companion)
    tree = _Tree(gone, list(Message.everywhere.filter(near).only("parent", "is_asleep")), companion)
    marks = {pk: tree.find_mark(message, earlier) for pk, message in gone.items()}

    children = [child for child in tree.said if child.parent_id in before and child.pk not in before]
    for child in children:
        child.parent_id = earlier(child.parent_id)
    Message.everywhere.bulk_update(children, ["parent"], batch_size=500)
    conversation = Conversation.objects.filter(companion=companion, head__in=before).first()
    if conversation:
        Conversation.objects.filter(pk=conversation.pk).update(head=earlier(conversation.head_id))
    ended: dict[UUID | None, list[UUID]] = {}
    for branch in tree.branches:
        if branch.head_id in before:
            ended.setdefault(earlier(branch.head_id), []).append(branch.pk)
    lost = ended.pop(None, [])
    for end, ids in ended.items():
        Branch.objects.filter(companion=companion, pk__in=ids).update(head=end)
    dropped = {pk for pk, mark in marks.items() if mark is None and gone[pk].is_asleep}
    move_marks(companion.pk, {pk: mark for pk, mark in marks.items() if pk not in dropped})
    Message.everywhere.filter(companion=companion, pk__in=before).delete()
    drop_changes(companion.pk, [*dropped, *lost])


@dataclass
class _Tree:
    """Messages that go, with all that are said around them, and the branches of their talk."""

    gone: dict[UUID, Message]
    said: list[Message]
    companion: Companion

    def __post_init__(self) -> None:
        self.branches = list(Branch.objects.filter(companion=self.companion))
        self.ending = {branch.head_id: branch.pk for branch in self.branches}
        self.following: dict[UUID | None, list[Message]] = {}
        for message in self.said:
            self.following.setdefault(message.parent_id, []).append(message)
        self.awake = {message.pk for message in self.said if not message.is_asleep}
        self.firsts: dict[UUID, Message] = {}
        self.next: dict[UUID, Message | None] = {}

    def find_mark(self, message: Message, earlier: Callable[[UUID | None], UUID | None]) -> UUID | None:
        """Return after what that was made which was made after the message.

        It is the message before it, where nothing else follows that one; else what follows the deleted one, or the end of
        the branch that ended with it. None where no branch knows of it any more, or where nothing was said before.
        """
        before = self._find_first(message).parent_id
        # The chosen branch may end there, which knows nothing of what sleeps.
        is_known = not message.is_asleep or (before is not None and before not in self.awake)
        if self._is_alone(self._find_first(message)) and is_known:
            return before
        following = self._find_next(message.pk)
        if following and (message.is_asleep or not following.is_asleep):
            return following.pk
        if not message.is_asleep:
            return self.companion.conversation.pk
        return self.ending.get(message.pk) if earlier(message.pk) else None

    def _is_alone(self, message: Message) -> bool:
        return len(self.following.get(message.parent_id, ())) == 1 and message.parent_id not in self.ending

    def _find_first(self, message: Message) -> Message:
        """Return the first of those that go, before it without a gap, from which nothing else parts."""
        passed = []
        while message.pk not in self.firsts and self._is_alone(message) and message.parent_id in self.gone:
            passed.append(message)
            message = self.gone[message.parent_id]
        message = self.firsts.get(message.pk, message)
        self.firsts.update((one.pk, message) for one in passed)
        return message

    def _find_next(self, id: UUID) -> Message | None:
        """Return what stays of what was said right after it, or right after what goes with it: what is awake, or any."""
        looked = [id]
        while looked:
            following = self.following.get(looked[-1], ())
            if open := [one.pk for one in following if one.pk in self.gone and one.pk not in self.next]:
                looked += open
                continue
            found = [self.next[one.pk] if one.pk in self.gone else one for one in following]
            awake_first = sorted((one for one in found if one), key=lambda one: one.is_asleep)
            self.next[looked.pop()] = awake_first[0] if awake_first else None
        return self.next[id]

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

    def earlier(id: UUID | None) -> UUID | None:
        while id in before:
            id = before[id]
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
        self.ends = {branch.head_id for branch in self.branches}
        self.following: dict[UUID | None, list[Message]] = {}
        for message in self.said:
            self.following.setdefault(message.parent_id, []).append(message)

    def find_mark(self, message: Message, earlier: Callable[[UUID | None], UUID | None]) -> UUID | None:
        """Return after what that was made which was made after the message.

        It is the message before it, where nothing else follows that one; else what follows the deleted one, or the end of
        the branch that ended with it. None where no branch knows of it any more, or where nothing was said before.
        """
        first = message
        while self._is_alone(first) and first.parent_id in self.gone:
            first = self.gone[first.parent_id]
        is_end = message.is_asleep and self._is_awake(
            first.parent_id
        )  # where the chosen branch ends, which knows not of it
        if self._is_alone(first) and not is_end:
            return first.parent_id
        following = sorted(self._find_following(message), key=lambda one: one.is_asleep)
        if following and (message.is_asleep or not following[0].is_asleep):
            return following[0].pk
        if not message.is_asleep:
            return self.companion.conversation.pk
        ending = (branch.pk for branch in self.branches if branch.head_id == message.pk)
        return next((branch for branch in ending if earlier(message.pk)), None)

    def _is_alone(self, message: Message) -> bool:
        return len(self.following.get(message.parent_id, ())) == 1 and message.parent_id not in self.ends

    def _is_awake(self, id: UUID | None) -> bool:
        return any(one.pk == id and not one.is_asleep for one in self.said)

    def _find_following(self, message: Message) -> list[Message]:
        """Return those that stay of what was said right after it, or right after what goes with it."""
        found, looked = [], [message.pk]
        while looked:
            for one in self.following.get(looked.pop(), ()):
                if one.pk in self.gone:
                    looked.append(one.pk)
                else:
                    found.append(one)
        return found

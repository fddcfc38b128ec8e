"""Close the gaps that deleted messages leave in a conversation: reattach the messages that followed them, the branches
that ended with them, and the journal's marks of changes made after them.
"""

from collections.abc import Collection
from uuid import UUID

from django.db.models import Q
from django.dispatch import Signal

from companions.branches.marks import drop_changes, move_marks
from companions.models import Branch, Companion, Conversation, Message

messages_deleted = Signal()
"""Sent by Message with `companion_id` and the messages' `ids`, just before the same transaction deletes them."""


def delete_rows(companion: Companion, messages: Collection[Message]) -> None:
    """Delete the messages themselves. What followed a deleted message now follows the one before it, and changes made
    after it count as made at another mark of the same branches (see `_Gaps.find_mark`).
    """
    gaps = _Gaps(companion, messages)
    marks = {pk: gaps.find_mark(message) for pk, message in gaps.gone.items()}
    children = [child for child in gaps.said if child.parent_id in gaps.gone and child.pk not in gaps.gone]
    for child in children:
        child.parent_id = gaps.find_earlier(child.parent_id)
    Message.everywhere.bulk_update(children, ["parent"], batch_size=500)
    conversation = Conversation.objects.filter(companion=companion, head__in=gaps.gone).first()
    if conversation:
        head = gaps.find_earlier(conversation.head_id)
        Conversation.objects.filter(pk=conversation.pk).update(head=head)
    ended: dict[UUID | None, list[UUID]] = {}
    for branch in gaps.branches:
        if branch.head_id in gaps.gone:
            ended.setdefault(gaps.find_earlier(branch.head_id), []).append(branch.pk)
    lost = ended.pop(None, [])
    for end, ids in ended.items():
        Branch.objects.filter(companion=companion, pk__in=ids).update(head=end)
    dropped = {pk for pk, mark in marks.items() if mark is None and gaps.gone[pk].is_asleep}
    move_marks(companion.pk, {pk: mark for pk, mark in marks.items() if pk not in dropped})
    messages_deleted.send(sender=Message, companion_id=companion.pk, ids=gaps.gone.keys())
    Message.everywhere.filter(companion=companion, pk__in=gaps.gone).delete()
    drop_changes(companion.pk, [*dropped, *lost])


class _Gaps:
    """The messages that are deleted (`gone`), their neighbours (`said`), and the branches of their conversation.

    Results are cached by message, so that each one is visited once even if many are deleted.
    """

    def __init__(self, companion: Companion, messages: Collection[Message]) -> None:
        self.conversation_id = companion.conversation.pk
        self.gone = {message.pk: message for message in messages}
        before = {message.parent_id for message in messages}
        near = Q(parent__in=self.gone) | Q(parent__in=before) | Q(pk__in=before)
        if None in before:
            near |= Q(parent=None, companion=companion)
        self.said = list(Message.everywhere.filter(near).only("parent", "is_asleep"))
        self.branches = list(Branch.objects.filter(companion=companion))
        self._ending = {branch.head_id: branch.pk for branch in self.branches}
        self._awake = {message.pk for message in self.said if not message.is_asleep}
        self._following: dict[UUID | None, list[Message]] = {}
        for message in self.said:
            self._following.setdefault(message.parent_id, []).append(message)
        self._earlier: dict[UUID | None, UUID | None] = {}
        self._first: dict[UUID, Message] = {}
        self._next: dict[UUID, Message | None] = {}

    def find_earlier(self, id: UUID | None) -> UUID | None:
        """Return the id of the nearest message, from `id` backwards, that is not deleted; None if there is none."""
        passed = []
        while id in self.gone and id not in self._earlier:
            passed.append(id)
            id = self.gone[id].parent_id
        id = self._earlier.get(id, id)
        self._earlier.update(dict.fromkeys(passed, id))
        return id

    def find_mark(self, message: Message) -> UUID | None:
        """Return the mark that replaces the deleted message's for changes that were made after it.

        It is the message before, unless something else follows that one; otherwise what follows the deleted message, or
        the end of the branch that ended with it. None if no branch knows of it any more or nothing was said before.
        """
        first = self._find_first(message)
        # The chosen branch may end at `first.parent_id` if that is awake, and knows nothing of messages asleep.
        is_known = not message.is_asleep or (
            first.parent_id is not None and first.parent_id not in self._awake
        )
        if self._is_alone(first) and is_known:
            return first.parent_id
        following = self._find_next(message.pk)
        if following and (message.is_asleep or not following.is_asleep):
            return following.pk
        if not message.is_asleep:
            return self.conversation_id
        return self._ending.get(message.pk) if self.find_earlier(message.pk) else None

    def _is_alone(self, message: Message) -> bool:
        beside = self._following.get(message.parent_id, ())
        return len(beside) == 1 and message.parent_id not in self._ending

    def _find_first(self, message: Message) -> Message:
        """Return the earliest deleted message that leads to this one without a gap, a sibling or a branch's end."""
        passed = []
        while message.pk not in self._first and self._is_alone(message) and message.parent_id in self.gone:
            passed.append(message)
            message = self.gone[message.parent_id]
        message = self._first.get(message.pk, message)
        self._first.update((later.pk, message) for later in passed)
        return message

    def _find_next(self, id: UUID) -> Message | None:
        """Return a message kept that follows `id`, directly or across deleted ones, preferably awake; None if none."""
        looked = [id]
        while looked:
            following = self._following.get(looked[-1], ())
            if waiting := [
                child.pk for child in following if child.pk in self.gone and child.pk not in self._next
            ]:
                looked += waiting
                continue
            kept = [self._next[child.pk] if child.pk in self.gone else child for child in following]
            awake_first = sorted(
                (message for message in kept if message), key=lambda message: message.is_asleep
            )
            self._next[looked.pop()] = awake_first[0] if awake_first else None
        return self._next[id]

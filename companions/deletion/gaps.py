"""Closing the gaps that deleted messages leave in a talk: what followed them, what ended with them, what was made after
them.
"""

from collections.abc import Collection
from uuid import UUID

from django.db.models import Q
from django.dispatch import Signal

from companions.branches.marks import drop_changes, move_marks
from companions.models import Branch, Companion, Conversation, Message

messages_deleted = Signal()
"""Sent with `companion_id` and `ids`, of messages that are about to be deleted, in the same transaction, by Message."""


def delete_rows(companion: Companion, messages: Collection[Message]) -> None:
    """Delete the messages themselves. What followed one follows what came before it, and what was made after it counts
    as made where all that knew of it still leads.
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
    """The messages that go, what is said around them, and the branches of their talk.

    Where many go, each is walked over once: what was found for one serves the others.
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
        """Return the nearest message before that one which stays."""
        passed = []
        while id in self.gone and id not in self._earlier:
            passed.append(id)
            id = self.gone[id].parent_id
        id = self._earlier.get(id, id)
        self._earlier.update(dict.fromkeys(passed, id))
        return id

    def find_mark(self, message: Message) -> UUID | None:
        """Return after what that was made which was made after the message.

        It is the message before it, where nothing else follows that one; else what follows the deleted one, or the end of
        the branch that ended with it. None where no branch knows of it any more, or where nothing was said before.
        """
        first = self._find_first(message)
        # The chosen branch may end there, which knows nothing of what sleeps.
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
        """Return the first of those that go, before it without a gap, from which nothing else parts."""
        passed = []
        while message.pk not in self._first and self._is_alone(message) and message.parent_id in self.gone:
            passed.append(message)
            message = self.gone[message.parent_id]
        message = self._first.get(message.pk, message)
        self._first.update((one.pk, message) for one in passed)
        return message

    def _find_next(self, id: UUID) -> Message | None:
        """Return what stays of what was said right after it, or right after what goes with it: what is awake, or any."""
        looked = [id]
        while looked:
            following = self._following.get(looked[-1], ())
            if waiting := [one.pk for one in following if one.pk in self.gone and one.pk not in self._next]:
                looked += waiting
                continue
            stays = [self._next[one.pk] if one.pk in self.gone else one for one in following]
            awake_first = sorted((one for one in stays if one), key=lambda one: one.is_asleep)
            self._next[looked.pop()] = awake_first[0] if awake_first else None
        return self._next[id]

"""`make bench-branches`: is a branch of a talk chosen quickly, and recall as quick with fifty branches as with none?

A talk of so many messages, each with its memory, is parted from at fifty places along it. Each branch is chosen, in an
order of chance, and then the two that are farthest from each other in turn.
"""

import random
import statistics
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import transaction

from bench.common.command import count, machine, parser
from bench.common.place import Place
from bench.common.timing import measure, show

if TYPE_CHECKING:
    from companions.models import Branch, Companion, Message

SIZES = (5_000, 50_000)
BRANCHES = 50
OWN_MESSAGES = 4  # of each branch
LEARNT_AT_ONCE = 24
FAR = 10
CUES = 40


def main() -> None:
    """Fill, choose, recall, and print as it goes."""
    asks = parser("branches", __doc__)
    asks.add_argument("--messages", type=count, nargs="*", default=SIZES, help="messages of each talk")
    asks.add_argument("--without-recall", action="store_true", help="choose branches only, and embed nothing")
    asked = asks.parse_args()
    print(f"Kith on {machine()}, {BRANCHES} branches.")
    with Place():
        for messages in asked.messages:
            _measure(messages, has_recall=not asked.without_recall)


def _measure(messages: int, *, has_recall: bool) -> None:
    from bench.scale.filling import settle
    from companions.branches.operations import choose

    print(f"\nA talk of {messages:,} messages")
    companion = _fill(messages, is_embedded=has_recall)
    recall = _prepare_recall(companion) if has_recall else None
    before = recall() if recall else []
    branches = _part(companion)
    settle()
    whole, chance = branches[-1], random.Random(7)

    def go(branch: "Branch") -> float:
        branch.refresh_from_db()
        return measure(choose, branch, _now())

    show("choosing a branch", [go(branch) for branch in chance.sample(branches, len(branches))])
    show("the first and the whole talk in turn", [go(branch) for branch in [branches[0], whole] * FAR])
    if recall:
        after = recall()
        show("recall without branches", before)
        show(f"recall with {BRANCHES} branches, just chosen", after)
        more = statistics.median(after) / statistics.median(before) - 1
        print(f"with branches half of the recalls take {more:+.0%}")


def _fill(messages: int, *, is_embedded: bool) -> "Companion":
    from bench.common import rows
    from bench.scale.filling import live, settle
    from companions.models import Message

    began, name = time.monotonic(), f"talker{messages}"
    if is_embedded:
        companion = live(name, messages, seed=5)
    else:
        companion = rows.person(name).companion
        rows.live_through(companion, messages, random.Random(5))
    trunk = list(Message.objects.filter(companion=companion).order_by("said_at"))
    for first in range(0, len(trunk), LEARNT_AT_ONCE):
        _learn(companion, trunk[first : first + LEARNT_AT_ONCE])
    if is_embedded:
        rows.lend_vectors(companion, np.random.default_rng(5))
    settle()
    print(f"filled in {time.monotonic() - began:.0f} s")
    return companion


def _part(companion: "Companion") -> list["Branch"]:
    """Return branches that part from the talk all along it, from the oldest place on, and last the talk itself."""
    from companions.conversations.messages import say_all
    from companions.models import Branch, Message
    from database.journal import replaying
    from memory.models import Memory

    conversation, now = companion.conversation, _now()
    trunk = list(Message.objects.filter(companion=companion).order_by("said_at"))
    heads = []
    for number in range(BRANCHES - 1):
        last = trunk[number * len(trunk) // BRANCHES]
        for own in range(OWN_MESSAGES):
            last = Message(
                companion=companion,
                conversation=conversation,
                session=last.session,
                parent=last,
                role=Message.Role.ASSISTANT if own % 2 else Message.Role.USER,
                text=f"On branch {number} we said {own}.",
                said_at=now + timedelta(seconds=own),
                is_asleep=True,
            )
            heads.append(last)
    with replaying():
        say_all(companion, heads, now)
        Memory.objects.filter(message__in=heads).update(is_asleep=True)
    ends = [*heads[OWN_MESSAGES - 1 :: OWN_MESSAGES], trunk[-1]]
    branches = Branch.objects.bulk_create(
        Branch(companion=companion, conversation=conversation, head=end, made_at=now) for end in ends
    )
    conversation.branch = branches[-1]
    conversation.save(update_fields=["branch"])
    return branches


@transaction.atomic
def _learn(companion: "Companion", messages: "list[Message]") -> None:
    """Have the companion learn from these messages as it does in a talk, so that the branches know of it or do not."""
    from companions.models import Message
    from database.journal import made_after
    from memory.store import keep_fact

    end = messages[-1]
    with made_after(end.pk):
        Message.objects.filter(pk__in=[message.pk for message in messages]).update(is_learnt=True)
        keep_fact(companion.pk, f"They said: {end.text}", end.said_at, end.said_at, source_ids=[end.pk])


def _prepare_recall(companion: "Companion") -> Callable[[], list[float]]:
    """Return what recalls for many cues, embedded beforehand, and gives the milliseconds of each."""
    from bench.scale.asking import cues, recall_all
    from memory.embedding import embed_cue

    asked = [(cue, embed_cue(cue, names=companion.names)) for cue in cues(CUES, seed=3)]

    def recall() -> list[float]:
        for cue, vector in asked[:5]:
            recall_all(companion, cue, vector)  # type: ignore[arg-type]
        return [measure(recall_all, companion, cue, vector) for cue, vector in asked]

    return recall


def _now() -> Any:
    from django.utils import timezone

    return timezone.now()


if __name__ == "__main__":
    main()

"""`make bench-search`: is the talk searched quickly, and read around any message, however long it is?

One person's talk of 300,000 messages is searched for words that are rare, common or not there, for beginnings, phrases,
Chinese and emoji; and opened around messages anywhere in it.
"""

import random
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bench.common.command import count, machine, parser
from bench.common.place import Place
from bench.common.timing import measure, show

if TYPE_CHECKING:
    from companions.models import Companion

MESSAGES = 300_000
BATCH = 10_000
TIMES = 20
SEARCHES = (
    "piano",
    "pia",
    "my",
    "sister piano lighthouse",
    "lighthouse baker bees plums",
    "“the old camera”",
    "“on the”",
    "nothing that was ever said",
    "zebra",
    "小猫",
    "猫",
    "周末去看大海",
    "🎹",
)
CHINESE = (
    "今天我的小猫又打翻了花瓶。",
    "周末去看大海吧！",
    "你昨天说的那本书我读完了。",
    "晚上吃面条，好吗？🎹",
)


def main() -> None:
    """Fill, search, and print as it goes."""
    asks = parser("search", __doc__)
    asks.add_argument("--messages", type=count, default=MESSAGES, help="messages of the talk")
    asked = asks.parse_args()
    print(f"Kith on {machine()}, a talk of {asked.messages:,} messages.")
    with Place():
        _measure(asked.messages)


def _measure(messages: int) -> None:
    from bench.common import rows
    from companions.conversations import transcript
    from companions.conversations.messages import find_first_since
    from companions.conversations.search import read_query, search
    from companions.models import Message
    from companions.pagination import PageIn

    companion = rows.person("searcher").companion
    fill(companion, messages)
    every: list[float] = []

    def look(text: str) -> Any:
        return search(companion, read_query(companion.pk, text), PageIn(limit=20, cursor=None))

    for text in SEARCHES:
        found, took = look(text), [measure(look, text) for _ in range(TIMES)]
        every += took
        show(f"search {text}" + ("" if found[0] else " (nothing)"), took)
    show("all searches", every)
    chance = random.Random(7)
    ids = list(Message.objects.filter(companion=companion).order_by("said_at").values_list("pk", flat=True))
    places = [Message.objects.get(pk=chance.choice(ids)) for _ in range(TIMES)]
    conversation = companion.conversation
    show("turns around", [measure(transcript.load_around, conversation, at) for at in places])
    days = [at.said_at - timedelta(minutes=30) for at in places]
    show("first of a day", [measure(find_first_since, companion, since) for since in days])


def fill(companion: "Companion", messages: int) -> None:
    """Have the two talk so much, an answer every quarter of an hour; without memories, which search does not read."""
    from django.utils import timezone

    from bench.common.rows import count_anew
    from bench.common.sentences import sentence
    from companions.conversations.messages import open_session
    from companions.models import Message

    chance, now, began = random.Random(5), timezone.now(), time.monotonic()
    session = open_session(companion.conversation, now)
    last = None
    for start in range(0, messages, BATCH):
        batch = []
        for number in range(start, min(start + BATCH, messages)):
            last = Message(
                companion=companion,
                conversation=companion.conversation,
                session=session,
                parent=last,
                role=Message.Role.ASSISTANT if number % 2 else Message.Role.USER,
                text=chance.choice(CHINESE) if chance.random() < 0.1 else sentence(chance),
                said_at=now - timedelta(minutes=15) * (messages - number),
            )
            batch.append(last)
        Message.objects.bulk_create(batch, batch_size=1000)
    companion.conversation.head = last
    companion.conversation.save(update_fields=["head"])
    count_anew()
    print(f"Filled in {time.monotonic() - began:.0f} s.")


if __name__ == "__main__":
    main()

"""`make bench-pasts`: how soon can a past be recalled that comes as a file, and how soon is it undone?

One chat of SillyTavern's, with swipes, comes into a companion that has talked already; then it is undone. A worker does
both, as it does where Kith runs.
"""

import random
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

from bench.common.command import count, machine, parser
from bench.common.past_files import Line, sillytavern
from bench.common.place import Place
from bench.common.sentences import sentence
from config.up.run import worker_program

T = TypeVar("T")
MESSAGES = 10_000
A_DAY = 40
EVERY_SWIPE = 20  # answers
HERE = 500  # messages of the talk before


def main() -> None:
    """Bring it, recall, undo, and print as it goes."""
    asks = parser("pasts", __doc__)
    asks.add_argument("--messages", type=count, default=MESSAGES, help="messages of the past")
    asks.add_argument("--keep", action="store_true", help="without undoing it")
    asked = asks.parse_args()
    print(f"Kith on {machine()}, a past of {asked.messages:,} messages.")
    with Place() as place, place.running(worker_program(with_beat=True)):
        _measure(asked.messages, keeps=asked.keep)


def _measure(messages: int, *, keeps: bool) -> None:
    from django.utils import timezone

    from bench.common import rows
    from companions.models import Message, PastImport
    from companions.pasts import imports, undo
    from companions.pasts.job_progress import measure_progress
    from companions.pasts.plan import Choice
    from companions.pasts.preview import describe
    from companions.pasts.uploads import keep_upload, read_content_of
    from memory.embedding import embed_waiting

    companion, now = rows.person("mover").companion, timezone.now()
    rows.live_through(companion, HERE, random.Random(3))
    embed_waiting(companion.pk)
    content = make_file(messages, now - timedelta(days=400))
    print(f"{len(content) / 1e6:.1f} MB.")
    read = show("read", lambda: read_content_of(companion.user, content))
    shown = show("preview", lambda: describe(read, companion, Choice(), now))
    print(f"  {shown.messages:,} messages, {shown.alternatives:,} of them not chosen; {shown.cost}.")
    upload = keep_upload(companion.user, content, read.form, "chat.jsonl", now)
    began = time.monotonic()
    past = show("begin", lambda: imports.begin(companion, upload, read, imports.Wanted(), now))
    show("recallable by words", lambda: wait_for(lambda: PastImport.objects.get(pk=past.pk).state == "done"))
    show("and by meaning", lambda: wait_for(lambda: measure_progress(past.job)[0] == "done"))
    print(f"Recallable after {time.monotonic() - began:.1f} s.")
    again = keep_upload(companion.user, content, read.form, "chat.jsonl", now)
    twice = show("the same file again", lambda: imports.begin(companion, again, read, imports.Wanted(), now))
    print(f"  {twice.messages_count} are new.")
    if keeps:
        return
    rows.count_anew()
    undo.begin_undo(past, now)
    show("undone", lambda: wait_for(lambda: not PastImport.objects.filter(pk=past.pk).exists()))
    left = Message.everywhere.filter(companion=companion).count()
    print(f"  {left} messages are left of {HERE}.")


def make_file(messages: int, began: datetime) -> bytes:
    """Return a chat of SillyTavern's with so many messages, forty a day, some of whose answers were swiped."""
    chance = random.Random(5)
    lines: list[Line] = []
    for number in range(messages):
        at = began + timedelta(days=number // A_DAY, minutes=3 * (number % A_DAY))
        lines.append((number % 2 == 0, sentence(chance), at))
    swipes = {number: [sentence(chance)] for number in range(1, messages, 2 * EVERY_SWIPE)}
    return sillytavern(lines, swipes)


def wait_for(is_done: Callable[[], bool]) -> None:
    while not is_done():
        time.sleep(0.5)


def show(name: str, work: Callable[[], T]) -> T:
    """Return what the work gives, and print how long it took."""
    began = time.monotonic()
    given = work()
    print(f"{name:<24} {time.monotonic() - began:7.1f} s", flush=True)
    return given


if __name__ == "__main__":
    main()

"""What was given to read and what came to mind, for bench/screenshots/seed.py: documents, recalls, moods, learnings."""

from datetime import datetime, timedelta
from typing import Any

from cards.lorebooks import normalise_book
from companions.lore.editing import make_book
from companions.lore.rules.context import Reason
from companions.lore.rules.scan import Dropped, Placed, Scan
from companions.lore.turn import keep_firings
from companions.memories.editing import give_document
from companions.models import CharacterVersion, Companion, Lorebook, Reply
from memory.models import Document, Learning, Memory, Page, Pursuit, Recall, Recalled
from memory.store import keep_fact

PAGES = {
    "en": (
        "Timetables of 1961",
        "The night train left at 22:14 and carried two sleepers. ",
        "Page {}: trains.",
    ),
    "zh-hans": ("1961 年的列车时刻表", "夜车 22 点 14 分开，挂两节卧铺。", "第 {} 页：列车。"),
}
WAITING = {"en": "Notes from the journey to Vienna", "zh-hans": "去维也纳路上记的"}
GOALS = {"en": "Learn to play chess this winter", "zh-hans": "这个冬天学会下棋"}
LORE = {
    "en": (
        ("The line to Vienna", "Customs of the railway"),
        (
            "The night train",
            "night train, sleeper",
            "It leaves at 22:14, and nobody may whistle on its platform.",
        ),
        ("The station-master", "station-master, platform", "Old Brandl knows every timetable by heart."),
        ("The green lamp", "lamp", "It burns where the line ends."),
    ),
    "zh-hans": (
        ("去维也纳的线路", "铁路上的规矩"),
        ("夜车", "夜车, 卧铺", "22 点 14 分开，站台上不许吹口哨。"),
        ("老站长", "站长, 站台", "布兰德尔记得每一张时刻表。"),
        ("绿灯", "灯", "它亮在线路的尽头。"),
    ),
}
CHANGES = {
    "en": ("Wren never hurries a story.", "The two sit on the last platform, an hour before the train."),
    "zh-hans": ("她讲故事从不着急。", "两人坐在最末的站台上，离开车还有一个小时。"),
}
LETTERS = 40_000
EVERY_DAYS = 3


def give(companion: Companion, language: str, now: datetime) -> Document:
    """Two documents, the first with all of its gists, the second with none and an error; the first comes back."""
    title, sentence, gist = PAGES[language]
    read = give_document(companion, title, sentence * (LETTERS // len(sentence)), now - timedelta(days=4))
    for page in read.pages.order_by("number"):
        _write(page, gist.format(page.number), now)
    waits = give_document(companion, WAITING[language], sentence * (LETTERS // len(sentence)), now)
    Document.objects.filter(pk=waits.pk).update(error="provider_unavailable", attempts=2, next_at=now)
    page = waits.pages.get(number=1)
    _write(page, gist.format(1), now)
    return read


def write_lore(companion: Companion, language: str, now: datetime) -> Lorebook:
    """A lorebook of its own with three rules, and one of its person's; its last answer read one entry."""
    (own, general), *told = LORE[language]
    rules: list[dict[str, Any]] = [{}, {"probability": 0}, {"sticky": 3, "delay": 2}]
    entries = [
        {"name": name, "keys": keys, "content": content, "extensions": extensions}
        for (name, keys, content), extensions in zip(told, rules, strict=True)
    ]
    book = make_book(
        companion.user,
        normalise_book({"name": own, "recursive_scanning": True, "entries": entries}),
        now,
        companion=companion,
    )
    make_book(companion.user, normalise_book({"name": general}), now, is_enabled=False)
    first, second, _last = [
        (f"{book.pk}:{entry.pk}", str(book.pk), entry.title) for entry in book.entries.all()
    ]
    key = told[0][1].partition(",")[0]
    placed = Placed(*first, "", "after_desc", None, "system", 20, Reason("key", key, message=0))
    dropped = Dropped(*second, "probability", "0", Reason("recursion", key, entry=first[0]))
    reply = Reply.objects.filter(companion=companion).latest("created_at")
    keep_firings(reply, reply.message, Scan((placed,), (dropped,), ()))
    return book


def change_character(companion: Companion, language: str, now: datetime) -> CharacterVersion:
    """Two changes of its texts, the first of which is the version."""
    first, second = CHANGES[language]
    companion.persona += f" {first}"
    companion.scenario = second
    companion.save(changed_by="page", now=now - timedelta(days=2))
    companion.post_history_instructions = second
    companion.save(changed_by="api", now=now - timedelta(hours=3))
    return companion.versions.get(number=1)


def _write(page: Page, gist: str, now: datetime) -> None:
    page.memory = keep_fact(page.companion_id, gist, now, now)
    page.gist = gist
    page.save(update_fields=["gist", "memory"])
    Memory.objects.filter(pk=page.memory.pk).update(kind=Memory.Kind.GIST)


def recall_for_months(companion: Companion, now: datetime) -> None:
    """Memories of very different strength, and a mood that goes up and down."""
    memories = list(companion.memories.order_by("happened_at")[:12])
    for n, memory in enumerate(memories):
        Memory.objects.filter(pk=memory.pk).update(
            times_recalled=n * n // 2,
            recalled_at=now - timedelta(days=n * 3),
            joy=n / 15,
            aversion=(11 - n) / 30,
        )
    for day in range(0, 150, EVERY_DAYS):
        _recall(
            companion, memories[day % 7 : day % 7 + day % 5 + 1], now - timedelta(days=day, hours=day % 11)
        )


def _recall(companion: Companion, memories: list[Memory], at: datetime) -> None:
    by: Any = {"by": Recall.By.TURN, "cue": "trains", "at": at, "milliseconds": 4}
    kept = Recall.objects.create(companion=companion, **by)
    Recalled.objects.bulk_create(
        Recalled(recall=kept, memory=one, rank=n, score=0.5, is_used=True, reasons={})
        for n, one in enumerate(memories, start=1)
    )


def learn(companion: Companion, language: str, now: datetime) -> None:
    """One learning and one goal, for the operators' tables."""
    goal = keep_fact(companion.pk, GOALS[language], now, now)
    Memory.objects.filter(pk=goal.pk).update(kind=Memory.Kind.GOAL)
    Pursuit.objects.create(companion=companion, memory=goal, status="under_way", progress=20, excitement=8)
    verdict = {
        "verdict": "add",
        "kind": "goal",
        "memory": str(goal.pk),
        "of": None,
        "outcome": "added",
        "reason": "",
    }
    Learning.objects.create(companion=companion, messages=4, verdicts=[verdict], at=now)

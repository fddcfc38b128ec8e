"""What was given to read and what came to mind, for bench/screenshots/seed.py: documents, recalls, moods, learnings."""

from datetime import datetime, timedelta
from typing import Any

from companions.memories.editing import give_document
from companions.models import Companion
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
        "verdict": "new",
        "kind": "goal",
        "memory": str(goal.pk),
        "of": None,
        "outcome": "kept",
        "reason": "",
    }
    Learning.objects.create(companion=companion, messages=4, verdicts=[verdict], at=now)

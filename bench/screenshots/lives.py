"""What companions did by themselves, for bench/screenshots/seed.py: a log, reminders, goals and ideas of all kinds."""

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from companions.life.inner_state import Feeling, revise
from companions.life.timers.timers import cancel, set_timer
from companions.life.wakings.waking import post_message
from companions.memories import goals
from companions.models import Companion, InnerState, Timer, Waking
from memory.models import Memory, Pursuit
from memory.store import keep_fact

WORDS: dict[str, dict[str, Any]] = {
    "en": {
        "text": "I read up on the sleeper to Prague. There are still two berths by the window.",
        "thought": "Robin sleeps badly before a journey. I will not write tonight, but in the morning.",
        "notes": ["Ask how the exam was", "Water the plants", "Look for the timetable of 1961"],
        "inner": [
            "I am glad of the evenings. The exam is near.",
            "I am glad of the evenings. The exam is over.",
        ],
        "goals": [
            "Learn enough Czech to order breakfast",
            "Learn the numbers up to one hundred",
            "See Prague",
        ],
        "ideas": ["Write a small guide to waiting rooms", "Draw the blue drawer"],
        "theirs": "Robin would like to see the sea in winter.",
    },
    "zh-hans": {
        "text": "我查了去布拉格的卧铺，靠窗的还剩两张。",
        "thought": "Robin 出门前总睡不好。今晚先不写，明早再说。",
        "notes": ["问问考得怎么样", "浇花", "找一找 1961 年的时刻表"],
        "inner": ["晚上有人说话，真好。考试快到了。", "晚上有人说话，真好。考试过去了。"],
        "goals": ["学一点捷克语，能点早餐就行", "先学会从一数到一百", "去看看布拉格"],
        "ideas": ["写一本候车室小指南", "把蓝色抽屉画下来"],
        "theirs": "Robin 想去看冬天的海。",
    },
}
STEPS = [
    {"round": 1, "name": name, "arguments": {}, "result": {}} for name in ("set_timer", "note", "recall")
]

ENDS: list[dict[str, Any]] = [
    {"outcome": "silent"},
    {"outcome": "held", "reason": "quiet_hours"},
    {"outcome": "held", "reason": "not_opted_in"},
    {"outcome": "held", "reason": "repeats"},
    {"outcome": "reminded"},
    {"state": "skipped", "reason": "asleep"},
    {"state": "skipped", "reason": "no_tokens"},
    {"state": "failed"},
]


def live(companion: Companion, language: str, now: datetime) -> None:
    """Give the companion reminders, wakings with every kind of end, inner states, goals and ideas."""
    words = WORDS[language]
    for schedule, note in (("2h", 0), ("cron:30 7 * * 1,3,5", 1), ("1d", 2)):
        set_timer(companion, schedule, words["notes"][note], by=Timer.By.USER, now=now, is_asked_for=True)
    old = set_timer(
        companion, "cron:0 9 1 * *", words["notes"][2], by=Timer.By.COMPANION, now=now, is_asked_for=False
    )
    cancel(old, now)
    aside = Timer.objects.create(
        companion=companion, schedule="cron:??", by="operator", state="set_aside", created_at=now
    )
    timers = list(Timer.objects.filter(companion=companion).exclude(pk=aside.pk).order_by("created_at", "pk"))
    for number, end in enumerate(ENDS):
        at = now - timedelta(hours=9 * number + 2)
        drive = {"origin": "drive", "drive": Waking.Drive.values[number % 6], "drive_key": f"k{number}"}
        by_timer = {"origin": "timer", "timer": timers[number % len(timers)], "is_asked_for": number % 4 == 0}
        _wake(companion, at, words, **(by_timer if number % 2 else drive), missed=number % 3, **end)
    spoke = _wake(
        companion, now - timedelta(days=2), words, origin="forced", timer=timers[0], outcome="spoke"
    )
    post_message(companion, spoke, words["text"], now - timedelta(days=2), is_notice=False)
    Waking.objects.create(
        companion=companion, origin="drive", drive="event", drive_key="w", note=words["notes"][0], attempts=2,
        due_at=now, look_at=now, created_at=now,
    )  # fmt: skip
    for text, by in zip(words["inner"], (InnerState.By.REFLECTION, InnerState.By.CLOSING), strict=True):
        revise(companion.pk, text, Feeling(0.5, 0.4, "happy", 0.6), by=by, now=now)
    pursue(companion, words, now)


def _wake(companion: Companion, at: datetime, words: dict[str, Any], **fields: Any) -> Waking:
    given = {"state": "done", "thought": words["thought"], "note": words["notes"][0], "steps": STEPS}
    if fields.get("outcome") == "held":
        given["text"] = words["text"]
    return Waking.objects.create(
        companion=companion, **(given | fields), due_at=at, created_at=at, ended_at=at
    )


def pursue(companion: Companion, words: dict[str, Any], now: datetime) -> None:
    """Give the companion goals that are parts of each other, ideas, and a wish of its person."""
    made = [goals.add(companion, Memory.Kind.GOAL, text, now) for text in words["goals"]]
    for part, whole in pairwise(made):
        goals.update(companion, part.memory_id, {"parent_id": whole.memory_id, "progress": 40}, now)
    goals.update(companion, made[0].memory_id, {"status": Pursuit.Status.DONE}, now)
    goals.update(companion, made[2].memory_id, {"status": Pursuit.Status.UNDER_WAY, "progress": 15}, now)
    for text in words["ideas"]:
        goals.add(companion, Memory.Kind.IDEA, text, now)
    theirs = keep_fact(companion.pk, words["theirs"], now, now)
    Memory.objects.filter(pk=theirs.pk).update(kind=Memory.Kind.IDEA)

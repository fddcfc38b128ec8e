"""What came of talks, for bench/screenshots/seed.py: diaries, profiles, a closing under way and one that failed."""

from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from companions.memories.editing import write_revision
from companions.models import Closing, Companion, Message, Session
from memory.learning.revisions import add_revision
from memory.models import DiaryEntry, Revision

ABOUT: dict[str, list[list[str]]] = {
    "en": [
        ["Robin takes the early train.", "Robin's grandmother kept timetables."],
        [
            "Robin takes the night train in May.",
            "Robin's grandmother kept timetables.",
            "Sits facing forward.",
        ],
    ],
    "zh-hans": [
        ["Robin 坐早班火车。", "外婆留着列车时刻表。"],
        ["Robin 五月坐夜车。", "外婆留着列车时刻表。", "坐车总要面朝前。"],
    ],
}
TITLES = {
    "en": ["Of trains and timetables", "The blue drawer", "What grandmother said"],
    "zh-hans": ["火车和时刻表", "蓝色的抽屉", "外婆说过的话"],
}
FEELINGS = ("think", "happy", "curious")


def grow(little: Companion, much: Companion, failed: Companion, language: str, now: datetime) -> None:
    """`little` has a diary of a few days, `much` of very many, and in `failed` a session could not be closed."""
    _tell(little, TITLES[language])
    for about in Revision.About:
        first, last = ABOUT[language]
        write_revision(little, about, first, now - timedelta(days=2))
        sources = [
            str(one.pk) for one in little.messages.filter(role="user").exclude(session__ended_at=None)[:2]
        ]
        told = [{"text": text, "sources": sources if text != last[-1] else []} for text in last]
        add_revision(little.pk, about, told, Revision.By.CLOSING, now - timedelta(days=1))
    little.sessions.filter(ended_at=None).update(pressure=0.71, unsent=12)
    _fill(much, now)
    _close(much, now, {}, next_at=now + timedelta(minutes=20))
    _close(failed, now, {"state": "failed", "error": "provider_unavailable", "attempts": 8}, next_at=now)


def _tell(companion: Companion, titles: list[str]) -> None:
    """One ended session, with its entry, for each of the first days of the talk."""
    days = groupby(
        companion.messages.order_by("said_at", "role"), key=lambda one: (one.said_at.date(), one.session_id)
    )
    for title, feeling, (_, said) in zip(titles, FEELINGS, days, strict=False):
        messages = list(said)
        session = _ended(companion, messages[0].said_at, messages[-1].said_at, title)
        Message.objects.filter(pk__in=[one.pk for one in messages]).update(session=session)
        told = [{"text": one.text[:380], "sources": [str(one.pk)]} for one in messages if one.role == "user"]
        _entry(companion, session, title, told or [{"text": messages[0].text[:380], "sources": []}], feeling)


def _fill(companion: Companion, now: datetime) -> None:
    long = [{"text": f"{n}: " + "lorem ipsum " * 30, "sources": []} for n in range(20)]
    for n in range(45):
        at = now - timedelta(days=n + 3)
        session = _ended(companion, at, at + timedelta(hours=n % 30), "T" * (n * 4 % 190 + 1))
        _entry(companion, session, session.title, long, FEELINGS[n % 3], is_stale=n % 5 == 0)
        made = add_revision(companion.pk, "user_profile", long[n % 20 :] or long, Revision.By.CLOSING, at)
        Revision.objects.filter(pk=made.pk).update(is_stale=n % 5 == 0)
    companion.sessions.filter(ended_at=None).update(pressure=0.93, unsent=37)


def _ended(companion: Companion, began: datetime, ended: datetime, title: str) -> Session:
    return Session.objects.create(
        companion=companion,
        conversation=companion.conversation,
        started_at=began,
        ended_at=ended,
        title=title,
    )


def _entry(
    companion: Companion, session: Session, title: str, told: Any, feeling: str, **more: Any
) -> DiaryEntry:
    assert session.ended_at
    return DiaryEntry.objects.create(
        companion=companion,
        session=session,
        title=title,
        sentences=told,
        started_at=session.started_at,
        ended_at=session.ended_at,
        emotion=feeling,
        intensity=0.6,
        made_at=session.ended_at,
        **more,
    )


def _close(companion: Companion, now: datetime, how: dict[str, Any], next_at: datetime) -> None:
    session = companion.sessions.get(ended_at=None)
    Closing.objects.create(
        companion=companion, session=session, until_at=now, asked_at=now, next_at=next_at, **how
    )

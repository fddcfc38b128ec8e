"""Timers that come due while workers and beats are killed, again and again; each due time must end in one waking."""

import os
import signal
import sys
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import psutil
from django.db.models import Count, F
from django.utils import timezone

from bench.common.place import Place
from bench.common.rows import person
from companions.life.timers import timers
from companions.models import Delivery, Life, Message, Timer, Waking
from config.up.processes import Child, Program
from config.up.run import worker_program

WORKERS, BEATS = 4, 2
COMPANIONS, TIMERS = 50, 20
BETWEEN_SECONDS = 3.0  # kills: a worker takes as long to come up
SETTLED_SECONDS = 240.0


@dataclass
class Killed:
    """What came of it."""

    kills: int = 0
    due_times: int = 0
    became: Counter[str] = field(default_factory=Counter)
    said: int = 0
    mails: int = 0
    wrong: list[str] = field(default_factory=list)


def live_among_kills(place: Place, kills: int, chance: Random) -> Killed:
    """What came of so many kills over four workers and two beats."""
    seconds = kills * BETWEEN_SECONDS
    expected = _set(timezone.now(), seconds, chance)
    os.environ["KITH_TICK_SECONDS"] = "1"  # processes hear of it as they start
    killed = Killed(due_times=len(expected))
    with ExitStack() as stack:
        children = [stack.enter_context(place.running(one)) for one in _programs(place.folder)]
        for _kill in range(kills):
            time.sleep(BETWEEN_SECONDS)
            _kill_one(chance.choice(children))
            killed.kills += 1
        _settle()
    _check(killed, expected, place.folder)
    return killed


def _programs(folder: Path) -> list[Program]:
    beats = []
    for number in range(BEATS):
        (folder / f"beat{number}").mkdir()
        command = [sys.executable, *["-m", "celery", "-A", "config", "beat", "--loglevel", "INFO", "-s"]]
        beats.append(
            Program("beat", [*command, str(folder / f"beat{number}" / "beat-schedule")], stop_seconds=4)
        )
    return [*(worker_program() for _n in range(WORKERS)), *beats]


def _set(now: datetime, seconds: float, chance: Random) -> dict[str, datetime]:
    """Timers that were asked for, each due once within that time; their due times."""
    expected = {}
    for number in range(COMPANIONS):
        companion = person(f"person{number}").companion
        Life.objects.filter(companion=companion).update(by_email=True)
        companion.timers.update(state=Timer.State.CANCELLED)  # those that each has from the beginning
        for n in range(TIMERS):
            note = f"Drink glass {n}."
            timer = timers.set_timer(companion, "1d", note, by=Timer.By.USER, now=now, is_asked_for=True)
            due = now + timedelta(seconds=20 + chance.random() * seconds)
            Timer.objects.filter(pk=timer.pk).update(due_at=due, look_at=due)
            expected[str(timer.pk)] = due
    return expected


def _kill_one(child: Child) -> None:
    if child.process and child.is_running():
        family = psutil.Process(child.pid).children(recursive=True)
        os.kill(child.pid, signal.SIGKILL)
        for one in family:
            one.kill()
        child.process.wait()
    child.start()


def _settle() -> None:
    """Wait until all that is left is done; what dead workers held is let go as if its time had passed."""
    until = time.monotonic() + SETTLED_SECONDS
    while time.monotonic() < until:
        Timer.objects.active().filter(due_at__lte=timezone.now()).update(look_at=F("due_at"))
        Waking.objects.waiting().update(look_at=timezone.now())
        Delivery.objects.filter(state="waiting").update(due_at=F("due_at") - timedelta(hours=3))
        Delivery.objects.exclude(attempted_at=None).update(
            attempted_at=F("attempted_at") - timedelta(hours=3)
        )
        time.sleep(10)
        left = (Timer.objects.active(), Waking.objects.waiting(), Delivery.objects.filter(state="waiting"))
        if not any(rows.exists() for rows in left):
            return


def _check(killed: Killed, expected: dict[str, datetime], folder: Path) -> None:
    found = list(Waking.objects.select_related("timer"))
    killed.became = Counter(" ".join(filter(None, (one.state, one.outcome, one.reason))) for one in found)
    by_timer = Counter(str(one.timer_id) for one in found)
    wrong = [f"a due time has {by_timer[id]} wakings" for id in expected if by_timer[id] != 1]
    wrong += [f"due at {one.due_at}" for one in found if expected.get(str(one.timer_id)) != one.due_at]
    wrong += [f"a waking still waits: {one.reason}" for one in found if one.state == Waking.State.WAITING]
    spoke = {one.pk for one in found if one.outcome == Waking.Outcome.SPOKE}
    said = Message.objects.exclude(waking=None)
    killed.said = said.count()
    if spoke != set(said.values_list("waking", flat=True)):
        wrong.append("what was said is not what wakings say")
    twice = said.values("companion", "text").annotate(times=Count("pk")).filter(times__gt=1)
    wrong += [f"said {one['times']} times: {one['text']}" for one in twice]
    wrong += _mails(killed, folder)
    killed.wrong = wrong


def _mails(killed: Killed, folder: Path) -> list[str]:
    """What is wrong with the mails: each message stands in one at most."""
    texts = [path.read_text() for path in (folder / "mail").glob("*")] if (folder / "mail").exists() else []
    killed.mails = sum(text.count("Subject:") for text in texts)
    every = Counter(line for text in texts for line in _told(text))
    return [f"mailed {times} times: {line}" for line, times in every.items() if times > 1]


def _told(mail: str) -> list[str]:
    """Each reminder in a mail with whom it is to."""
    parts = mail.split("Subject:")[1:]
    told = []
    for part in parts:
        to = next((line for line in part.splitlines() if line.startswith("To:")), "")
        told += [f"{to} {line}" for line in part.splitlines() if "Drink glass" in line]
    return told

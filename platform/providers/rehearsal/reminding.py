"""What the rehearsal model does where it is plainly asked for a timer, or which there are."""

import json
import re
from datetime import datetime, timedelta
from typing import Any

ASKED = re.compile(r"(?i)(?<!did you )(?<!do you )\bremind me\b|提醒我")
LIST = re.compile(
    r"(?i)\b(?:what|which|list|show)\b[^.?!]{0,20}\b(?:timers|reminders)\b"
    r"|(?:哪些|什么)(?:定时器|计时器|提醒)|(?:定时器|计时器|提醒)有(?:哪些|什么)"
)
UNITS = {"s": "s", "秒": "s", "m": "min", "分": "min", "h": "h", "小": "h", "个": "h", "d": "d", "天": "d"}
LENGTH = re.compile(
    r"(?i)\bin (?P<en>\d{1,9}|an?) ?(?P<unit>s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)\b"
    r"|在?(?P<cn>\d{1,9}) ?(?P<mass>秒钟?|分钟?|个?小时|天)(?:之后|以后|后)"
)
CLOCK = re.compile(
    r"(?i)(?:\b(?P<before>tomorrow|today|every day|every weekday) )?"
    r"\bat (?P<hour>\d{1,2})(?::(?P<minute>\d\d))?(?: ?(?P<half>am|pm))?\b(?: (?P<after>tomorrow|today|every day))?"
    r"|(?P<day>今天|明天|每天|(?:每个)?工作日)?(?P<part>早上|上午|下午|晚上)?"
    r"(?P<hours>\d{1,2})(?:[:：](?P<minutes>\d\d)|点(?:(?P<thirty>半)|(?P<past>\d{1,2})分?)?)"
)
CRONS = {"every day": "*", "每天": "*", "every weekday": "1-5", "每个工作日": "1-5", "工作日": "1-5"}
AROUND = " \t\n.,;:!?。，；：！？"


def asked_for(question: str, now: datetime | None) -> tuple[str, dict[str, Any]] | None:
    """The tool and its arguments; None where no timer is spoken of."""
    if LIST.search(question):
        return "list_timers", {}
    begin = ASKED.search(question)
    when = begin and (LENGTH.search(question) or CLOCK.search(question))
    if not begin or not when:
        return None
    schedule = _length(when) if when.re is LENGTH else _clock(when, now)
    if not schedule:
        return None
    said = question[: when.start()] + question[when.end() :]
    _before, _begin, note = said.partition(begin[0])
    return "set_timer", {"schedule": schedule, "note": " ".join(note.split()).strip(AROUND) or question}


def _length(when: "re.Match[str]") -> str:
    amount = when["en"] or when["cn"]
    unit = UNITS[(when["unit"] or when["mass"])[0].lower()]
    return f"{1 if not amount.isdigit() else int(amount)}{unit}"


def _clock(when: "re.Match[str]", now: datetime | None) -> str:
    """The next time that a clock shows it; empty where that is no time, or it is not known what time it is."""
    hour = int(when["hour"] or when["hours"])
    minute = 30 if when["thirty"] else int(when["minute"] or when["minutes"] or when["past"] or 0)
    is_late = (when["half"] or "").lower() == "pm" or when["part"] in ("下午", "晚上")
    hour += 12 if is_late and hour < 12 else 0
    hour = 0 if hour == 12 and (when["half"] or "").lower() == "am" else hour
    if hour > 23 or minute > 59:
        return ""
    day = (when["before"] or when["after"] or when["day"] or "").lower()
    if day in CRONS:
        return f"cron:{minute} {hour} * * {CRONS[day]}"
    if now is None:
        return ""
    at = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
    is_next = day in ("tomorrow", "明天") or (not day and at <= now)
    return f"once:{at + timedelta(days=is_next):%Y-%m-%d %H:%M}"


def told(name: str, arguments: str, result: str, now: datetime | None, *, chinese: bool) -> str:
    """What is said after one of the timers' tools; empty after any other."""
    if name not in ("set_timer", "list_timers"):
        return ""
    given, asked = _read(result), _read(arguments)
    if "error" in given:
        sorry = "我设不了这个定时器:" if chinese else "I could not set this timer: "
        return f"{sorry}{given['error']}"
    if name == "list_timers":
        return _listed(given.get("timers") or [], now, chinese)
    note = str(asked.get("note", ""))
    if str(asked.get("schedule", "")).startswith("cron:"):
        when = str(given.get("when", ""))
        return f"好,我会提醒你{note}:{when}。" if chinese else f"I will remind you {when} {note}."
    when = _moment(str(given.get("next", "")), now, chinese)
    return f"好,我会在{when}提醒你{note}。" if chinese else f"I will remind you {when} {note}."


def _listed(timers: list[dict[str, Any]], now: datetime | None, chinese: bool) -> str:
    if not timers:
        return "现在没有定时器。" if chinese else "There are no timers."
    lines = [
        f"- {one.get('text')} ({_moment(str(one.get('next', '')), now, chinese).strip()})" for one in timers
    ]
    return "\n".join(["这些定时器都设好了:" if chinese else "These timers are set:", *lines])


def _moment(next: str, now: datetime | None, chinese: bool) -> str:
    """A time as Kith's tools give it, without its day where that is today."""
    try:
        at = datetime.fromisoformat(next)
    except ValueError:
        return next
    clock = f"{at:%H:%M:%S}".removesuffix(":00")
    if now and at.date() == now.date():
        return clock if chinese else f"at {clock}"
    return f"{at.month}月{at.day}日{clock}" if chinese else f"on {at.day} {at:%B} at {clock}"


def _read(text: str) -> dict[str, Any]:
    try:
        read = json.loads(text)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}

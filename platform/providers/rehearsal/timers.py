"""What the rehearsal model does where it is plainly asked for a timer, or which there are."""

import json
import re
from datetime import datetime, timedelta
from typing import Any

REMIND = re.compile(r"(?i)(?<!did you )(?<!do you )\bremind me\b|提醒我")
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
CRON_DAYS = {"every day": "*", "每天": "*", "every weekday": "1-5", "每个工作日": "1-5", "工作日": "1-5"}
MARKS_AROUND = " \t\n.,;:!?。，；：！？"


def find_call(question: str, now: datetime | None) -> tuple[str, dict[str, Any]] | None:
    """Return the tool and its arguments; None where no timer is spoken of."""
    if LIST.search(question):
        return "list_timers", {}
    remind = REMIND.search(question)
    length, clock = LENGTH.search(question), CLOCK.search(question)
    when = length or clock
    if not remind or not when:
        return None
    schedule = _read_length(length) if length else _read_clock(when, now)
    if not schedule:
        return None
    rest = question[: when.start()] + question[when.end() :]
    note = " ".join(rest.partition(remind[0])[2].split()).strip(MARKS_AROUND)
    return "set_timer", {"schedule": schedule, "note": note or question}


def _read_length(when: re.Match[str]) -> str:
    amount, unit = when["en"] or when["cn"], UNITS[(when["unit"] or when["mass"])[0].lower()]
    return f"{int(amount) if amount.isdigit() else 1}{unit}"


def _read_clock(when: re.Match[str], now: datetime | None) -> str:
    """Return the next time that a clock shows it; empty where that is no time, or it is not known what time it is."""
    hour = int(when["hour"] or when["hours"])
    minute = 30 if when["thirty"] else int(when["minute"] or when["minutes"] or when["past"] or 0)
    half = (when["half"] or "").lower()
    if hour < 12 and (half == "pm" or when["part"] in ("下午", "晚上")):
        hour += 12
    elif hour == 12 and half == "am":
        hour = 0
    if hour > 23 or minute > 59:
        return ""
    day = (when["before"] or when["after"] or when["day"] or "").lower()
    if day in CRON_DAYS:
        return f"cron:{minute} {hour} * * {CRON_DAYS[day]}"
    if now is None:
        return ""
    at = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
    is_tomorrow = day in ("tomorrow", "明天") or (not day and at <= now)
    return f"once:{at + timedelta(days=is_tomorrow):%Y-%m-%d %H:%M}"


def describe(name: str, arguments: str, result: str, now: datetime | None, *, chinese: bool) -> str:
    """Return what is said after one of the timers' tools; empty after any other."""
    if name not in ("set_timer", "list_timers"):
        return ""
    given, asked = read_object(result), read_object(arguments)
    if "error" in given:
        return f"{'我设不了这个定时器:' if chinese else 'I could not set this timer: '}{given['error']}"
    if name == "list_timers":
        timers = [
            f"- {timer.get('text')} ({_tell_time(timer, now, chinese)})"
            for timer in given.get("timers") or []
        ]
        if not timers:
            return "现在没有定时器。" if chinese else "There are no timers."
        return "\n".join(["这些定时器都设好了:" if chinese else "These timers are set:", *timers])
    note = asked.get("note", "")
    if str(asked.get("schedule", "")).startswith("cron:"):
        when = given.get("when", "")
        return f"好,我会提醒你{note}:{when}。" if chinese else f"I will remind you {when} {note}."
    when = _tell_time(given, now, chinese)
    return f"好,我会在{when}提醒你{note}。" if chinese else f"I will remind you {when} {note}."


def _tell_time(timer: dict[str, Any], now: datetime | None, chinese: bool) -> str:
    """Return when it wakes next, without the day where that is today."""
    try:
        at = datetime.fromisoformat(str(timer.get("next", "")))
    except ValueError:
        return str(timer.get("next", ""))
    clock = f"{at:%H:%M:%S}".removesuffix(":00")
    if now and at.date() == now.date():
        return clock if chinese else f"at {clock}"
    return f"{at.month}月{at.day}日{clock}" if chinese else f"on {at.day} {at:%B} at {clock}"


def read_object(text: str) -> dict[str, Any]:
    """Return the JSON object; an empty one where it is none."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}

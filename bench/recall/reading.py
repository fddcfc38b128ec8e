"""Files of the shape of LoCoMo's (a list of samples) or of REALTALK's (one talk a file, `Chat_*.json`) as talks."""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.recall.talk import Question, Talk, Turn

SESSION = re.compile(r"session_(\d+)")
TURN_ID = re.compile(r"D:?(\d+):(\d+)")  # also in "D8:6; D9:17", "D:11:26", "D30:05"
TIMES = ("%I:%M %p on %d %B, %Y", "%d.%m.%Y, %H:%M:%S")
STEP = timedelta(minutes=1)
MIN_STEP = timedelta(seconds=1)


class DataError(ValueError):
    """A file that is missing, is no JSON or has neither shape; says which and why."""


def talks(paths: Iterable[Path]) -> list[Talk]:
    """The talks of all files that have questions, a folder standing for the `*.json` in it; raises DataError."""
    read = [talk for path in paths for file in _files(path) for talk in _read(file) if talk.questions]
    if not read:
        raise DataError("These files hold no question with evidence.")
    return read


def evidence(given: object) -> frozenset[str]:
    """The ids of turns in what a question gives as its evidence, however it is written."""
    texts = given if isinstance(given, list) else [given]
    return frozenset(found for text in texts for found in _ids(str(text)))


def _files(path: Path) -> list[Path]:
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise DataError(f"{path}: there is no *.json in this folder.")
    return files


def _read(path: Path) -> list[Talk]:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}.") from error
    except ValueError as error:
        raise DataError(f"{path}: this is no JSON ({error}).") from error
    try:
        if isinstance(held, list):
            return [_locomo(sample) for sample in held]
        return [_realtalk(path.stem, held)]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        shapes = "neither LoCoMo's shape (a list of samples with conversation and qa) nor REALTALK's (session_N and qa)"
        raise DataError(f"{path}: {shapes}: {type(error).__name__} {error}.") from error


def _locomo(sample: Mapping[str, Any]) -> Talk:
    said = sample["conversation"]
    names = [said["speaker_a"], said["speaker_b"]]
    return _talk(sample["sample_id"], names, said, sample["qa"])


def _realtalk(name: str, held: Mapping[str, Any]) -> Talk:
    """Its speakers are those who speak, in that order: what the file calls them differs from file to file."""
    names = dict.fromkeys(turn["speaker"] for turns in _sessions(held) for turn in held[turns])
    return _talk(name, list(names), held, held["qa"])


def _talk(name: str, names: list[str], said: Mapping[str, Any], asked: Iterable[Mapping[str, Any]]) -> Talk:
    sessions = [_session(names[0], said, key) for key in _sessions(said)]
    if len(names) < 2 or not any(sessions):
        raise ValueError("nobody speaks to anybody")
    there = {turn.id for session in sessions for turn in session}
    questions = [
        Question(str(one["question"]), int(one["category"]), evidence(one.get("evidence")) & there)
        for one in asked
    ]
    sessions = [session for session in sessions if session]
    return Talk(name, names[0], names[1], sessions, [one for one in questions if one.evidence])


def _sessions(said: Mapping[str, Any]) -> list[str]:
    """The keys of the sessions in their order; some files have dates of sessions that they do not hold."""
    numbered = {key: SESSION.fullmatch(key) for key, value in said.items() if isinstance(value, list)}
    return sorted(
        (key for key, match in numbered.items() if match), key=lambda key: int(key.rpartition("_")[2])
    )


def _session(user: str, said: Mapping[str, Any], key: str) -> list[Turn]:
    """A minute passes from turn to turn where turns have no time of their own."""
    turns: list[Turn] = []
    for one in said[key]:
        at = _time(one.get("date_time") or said[f"{key}_date_time"])
        if turns:
            at = max(at, turns[-1].at + (MIN_STEP if "date_time" in one else STEP))
        (id,) = _ids(one["dia_id"])
        if text := _text(one):
            turns.append(Turn(id, one["speaker"] == user, text, at))
    return turns


def _text(turn: Mapping[str, Any]) -> str:
    """What was said, and on a line of its own what a photo shows."""
    said = str(turn["clean_text"] if "clean_text" in turn else turn["text"]).strip()
    caption = str(turn.get("blip_caption") or "").strip()
    return "\n".join(filter(None, [said, f"[photo: {caption}]" if caption else ""]))


def _time(text: str) -> datetime:
    for form in TIMES:
        try:
            return datetime.strptime(text.strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise ValueError(f"{text!r} is no time that these files are known to use")


def _ids(text: str) -> list[str]:
    return [f"D{int(session)}:{int(turn)}" for session, turn in TURN_ID.findall(text)]

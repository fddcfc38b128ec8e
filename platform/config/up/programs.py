"""A program that `up` keeps running."""

import re
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self, TypedDict

# A line of JSON at level error or above, or a plain one that says so.
COMPLAINT = re.compile(r'"level": "(error|critical)"|\b(ERROR|CRITICAL|FATAL|PANIC)\b')


class Account(TypedDict, total=False):
    """What subprocess needs to know to start a process as another account."""

    user: str
    group: str
    extra_groups: list[str]


def as_account(name: str | None) -> Account:
    """The user and its own group alone: left in root's group it is kept out where others may pass."""
    return {} if name is None else {"user": name, "group": name, "extra_groups": []}


def nothing() -> None:
    """For a program that needs nothing before its start."""


@dataclass(frozen=True)
class Program:
    """How one process is started and ended.

    `prepare` runs before each start, also before a restart, and clears away what a killed process left behind.
    `complaint` finds the lines of its log that the terminal should show. `death_signal` is what the process gets
    when `up` itself is killed; `user` is the account that it runs as (None: ours).
    """

    name: str
    command: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    user: str | None = None
    prepare: Callable[[], None] = nothing
    complaint: re.Pattern[str] = COMPLAINT
    stop_signal: signal.Signals = signal.SIGTERM
    death_signal: signal.Signals = signal.SIGKILL
    stop_seconds: float = 5.0

    def within(self, folder: Path, environment: Mapping[str, str]) -> Self:
        """The same program in that folder, told that environment besides what we have of our own."""
        return replace(self, folder=folder, environment=environment)

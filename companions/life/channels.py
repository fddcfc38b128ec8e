"""The ways to reach a person who is not here: each registers itself, and is asked by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from accounts.models import User
from companions.models import Delivery, Life


@dataclass(frozen=True, slots=True)
class Sent:
    """Whether deliveries went out, else the code of what went wrong."""

    error: str = ""


class Channel(Protocol):
    """A way to reach people. `gathers`: all that waits for a person goes at once, not more often than every `pause`."""

    name: str
    gathers: bool
    after: timedelta  # how long it waits: who reads meanwhile is not reached this way
    pause: timedelta

    def wanted(self, life: Life) -> bool:
        """Whether the person wants this companion's messages this way."""

    def addresses(self, user: User) -> Sequence[str]:
        """The person's addresses, by ids of the channel's own."""

    def send(self, deliveries: Sequence[Delivery], now: datetime) -> Sent:
        """Send these, all of one person and address; nothing is raised. Their messages and companions are loaded."""


_channels: dict[str, Channel] = {}


def register(channel: Channel) -> None:
    """Let the channel be asked from now on."""
    _channels[channel.name] = channel


def channels() -> dict[str, Channel]:
    """All there are, by name."""
    return _channels

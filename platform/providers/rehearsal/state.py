"""What one rehearsal server knows while it runs; all of it bounded."""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from providers.rehearsal.script import Script, SoundStep, Step
from providers.rehearsal.stream import Call


@dataclass
class State:
    pause_seconds: float = 0.025
    script: Script[Step] = field(default_factory=Script)
    ledger: deque[Call] = field(default_factory=lambda: deque(maxlen=10_000))
    requests: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=200))
    sound_script: Script[SoundStep] = field(default_factory=Script)
    sound_requests: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=200))
    served: int = 0


STATE = web.AppKey("state", State)

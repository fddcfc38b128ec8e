"""What one rehearsal server knows while it runs; all of it bounded."""

from collections import deque
from dataclasses import asdict, dataclass, field
from typing import Any

from aiohttp import web

from providers.rehearsal.script import Script
from providers.rehearsal.sound.script import SoundScript


@dataclass
class Call:
    """One chat request in the ledger, with the tokens that the server counted itself."""

    id: str
    model: str
    prompt_tokens: int
    peer_port: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    state: str = "open"  # then done, broken (as scripted), refused or left (by the client)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class State:
    model: str = "rehearsal"
    seconds_between: float = 0.025
    script: Script = field(default_factory=Script)
    ledger: deque[Call] = field(default_factory=lambda: deque(maxlen=10_000))
    sound: SoundScript = field(default_factory=SoundScript)
    requests: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=200))
    served: int = 0


STATE = web.AppKey("state", State)

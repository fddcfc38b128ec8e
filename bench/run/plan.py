"""What is streamed, and when: the same plan for provider, bare socket and client, written into the first message."""

import re
import time
from dataclasses import dataclass

PLAN = re.compile(r"from=([\d.]+) plan=([\dx,.]+)")

SLOWLY_SECONDS = 0.5
ROUND = 1 << 32


def stamp() -> int:
    """The time in microseconds, the part of it that eight hexadecimal digits show (they come round in 71 minutes)."""
    return time.time_ns() // 1000 % ROUND


def since(stamped: int) -> int:
    """Microseconds since that stamp."""
    return (stamp() - stamped) % ROUND


@dataclass(frozen=True)
class Step:
    """So many pieces a second on each stream, between two times in seconds since 1970."""

    rate: int
    begins_at: float
    ends_at: float


class Plan:
    """Steps, each of its rate and its length in seconds; who streams earlier streams slowly, while others begin."""

    def __init__(self, begins_at: float, steps: list[tuple[int, float]]) -> None:
        self.text = f"from={begins_at:.3f} plan=" + ",".join(f"{rate}x{seconds}" for rate, seconds in steps)
        self.steps: list[Step] = []
        for rate, seconds in steps:
            self.steps.append(Step(rate, begins_at, begins_at + seconds))
            begins_at += seconds
        self.ends_at = begins_at

    @classmethod
    def read(cls, text: str) -> "Plan":
        """The last plan in a text."""
        begins_at, steps = PLAN.findall(text)[-1]
        pairs = [step.split("x") for step in steps.split(",")]
        return cls(float(begins_at), [(int(rate), float(seconds)) for rate, seconds in pairs])

    def after(self, due: float) -> float:
        """When the piece is due that follows the one that was due then."""
        if due < self.steps[0].begins_at:
            return due + SLOWLY_SECONDS
        return due + 1 / next((step.rate for step in self.steps if due < step.ends_at), self.steps[-1].rate)

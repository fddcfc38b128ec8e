"""What a test tells the rehearsal model to do with sound, one step for each request."""

from collections import deque
from dataclasses import dataclass, field, fields
from typing import Any

MOST_STEPS = 10_000
CAPABILITIES = ("speech", "transcription")


@dataclass
class SoundStep:
    """How one request is answered; what is left out is as in ordinary use.

    `when` must stand in the text to be spoken, or in the prompt of a transcription. `body` is what is sent in place
    of the sound or of the transcript, in base64; `kind` its content type. `rate` is in bytes a second, the others are
    seconds and bytes.
    """

    capability: str = "speech"
    text: str | None = None  # heard
    language: str = ""  # heard
    seconds: float = 0.0  # how long the tone is
    is_silent: bool = False
    body: str | None = None
    kind: str = ""
    error: dict[str, Any] | None = None  # status, body, headers
    html: bool = False
    delay: float = 0.0
    rate: float = 0.0
    cut_after: int | None = None  # the connection is broken
    hang_after: int | None = None
    when: str = ""
    repeat: int = 1

    @classmethod
    def read(cls, wanted: object) -> "SoundStep":
        """The step that a test wrote as JSON; ValueError names what it does not know."""
        if not isinstance(wanted, dict):
            raise ValueError(f"A step is an object, not {wanted!r}")
        unknown = set(wanted) - {field.name for field in fields(cls)}
        if unknown or wanted.get("capability", "speech") not in CAPABILITIES:
            raise ValueError(f"Unknown in a step: {', '.join(sorted(unknown)) or wanted['capability']}")
        return cls(**wanted)


@dataclass
class SoundScript:
    """Steps still to be played, in order, and the last requests as they came."""

    steps: deque[SoundStep] = field(default_factory=lambda: deque(maxlen=MOST_STEPS))
    requests: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=200))

    def next_for(self, capability: str, text: str) -> SoundStep:
        """The first step meant for this request, used up by asking; one of ordinary use where none is left."""
        meant = (step for step in self.steps if step.capability == capability and step.when in text)
        step = next(meant, None)
        if step is None:
            return SoundStep(capability)
        step.repeat -= 1
        if step.repeat <= 0:
            self.steps.remove(step)
        return step

    def clear(self) -> None:
        self.steps.clear()
        self.requests.clear()

"""What a test tells the rehearsal model to do, one step for each request."""

from collections import deque
from dataclasses import dataclass, fields
from typing import Any, Generic, Self, TypeVar

MAX_STEPS = 10_000


@dataclass
class Step:
    """How one chat request is answered; what is left out is as in ordinary use.

    `answer` or `pieces` or `count` pieces of the time in nanoseconds at `rate` a second; `events` are sent as
    they are (a dict as JSON, a string raw). `usage` is false for a server that sends none, null for a null.
    """

    answer: str | None = None
    pieces: list[str] | None = None
    events: list[Any] | None = None
    count: int = 0
    rate: float = 0.0
    thought: str = ""
    tool_calls: list[dict[str, Any]] | None = None
    usage: Any = True
    finish_reason: str = ""
    delay_before: float = 0.0
    delay_between: float | None = None
    error: dict[str, Any] | None = None  # status, body, headers
    html: bool = False
    cut_after: int | None = None  # the connection is broken
    end_after: int | None = None  # the body ends in good order, the answer does not
    hang_after: int | None = None
    empty_delta: bool = False
    null_content: bool = False
    refuse_tools: bool = False
    refuse_stream_options: bool = False
    refuse_response_format: bool = False
    parrots: bool = False  # repeats what it is given to remember, and learns from what it says
    task: str = ""  # only for a request for this form; "any" for whatever form, else for a talk only
    when: str = ""  # only for a request whose last user message holds this, of a talk without its context
    repeat: int = 1

    @classmethod
    def read(cls, wanted: object) -> Self:
        """Return the step that a test wrote as JSON; ValueError names what it does not know."""
        if not isinstance(wanted, dict):
            raise ValueError(f"A step is an object, not {wanted!r}")
        unknown = set(wanted) - {field.name for field in fields(cls)}
        if unknown:
            raise ValueError(f"Unknown in a step: {', '.join(sorted(unknown))}")
        return cls(**wanted)

    def is_for(self, text: str, task: str) -> bool:
        """Return whether it is meant: a talk's step is never used up by a task in the background."""
        return self.task in ({task, "any"} if task else {""}) and self.when in text


@dataclass
class SoundStep(Step):
    """How one request for sound is answered.

    `when` must stand in the text to be spoken, or in the prompt of a transcription. `body` is what is sent in place
    of the sound or of the transcript, in base64; `kind` its content type. `rate` is in bytes a second, the others are
    seconds and bytes.
    """

    capability: str = "speech"  # or transcription
    text: str | None = None  # heard
    language: str = ""  # heard
    seconds: float = 0.0  # how long the tone is
    is_silent: bool = False
    body: str | None = None
    kind: str = ""
    delay: float = 0.0

    def is_for(self, text: str, task: str) -> bool:
        """Return whether it is meant; `task` is the capability."""
        return self.capability == task and self.when in text


AnyStep = TypeVar("AnyStep", bound=Step)


class Script(Generic[AnyStep]):
    """Steps still to be played, in order."""

    def __init__(self) -> None:
        self.steps: deque[AnyStep] = deque(maxlen=MAX_STEPS)

    def take(self, text: str, task: str) -> AnyStep | None:
        """Return the first step meant for this text and task, used up by asking; None where none is left."""
        step = next((step for step in self.steps if step.is_for(text, task)), None)
        if step is not None:
            step.repeat -= 1
            if step.repeat <= 0:
                self.steps.remove(step)
        return step

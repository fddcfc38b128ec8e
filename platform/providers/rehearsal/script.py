"""What a test tells the rehearsal model to do, one step for each chat request."""

from collections import deque
from dataclasses import dataclass, fields
from typing import Any

MOST_STEPS = 10_000


@dataclass
class Step:
    """How one request is answered; what is left out is as in ordinary use.

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
    error: dict[str, Any] | None = None
    html: bool = False
    cut_after: int | None = None  # the connection is broken
    end_after: int | None = None  # the body ends in good order, the answer does not
    hang_after: int | None = None
    empty_delta: bool = False
    null_content: bool = False
    refuse_tools: bool = False
    refuse_stream_options: bool = False
    refuse_response_format: bool = False
    parrots: bool = (
        False  # repeats what it is given to remember, and learns from what it says (see parroting.py)
    )
    task: str = (
        ""  # only for a request that asks for this form; "any" for whatever form, else for a talk only
    )
    when: str = ""  # only for a request whose last user message holds this, of a talk without its context
    repeat: int = 1

    @classmethod
    def read(cls, wanted: object) -> "Step":
        """The step that a test wrote as JSON; ValueError names what it does not know."""
        if not isinstance(wanted, dict):
            raise ValueError(f"A step is an object, not {wanted!r}")
        unknown = set(wanted) - {field.name for field in fields(cls)}
        if unknown:
            raise ValueError(f"Unknown in a step: {', '.join(sorted(unknown))}")
        return cls(**wanted)


class Script:
    """Steps still to be played, in order."""

    def __init__(self) -> None:
        self._steps: deque[Step] = deque(maxlen=MOST_STEPS)

    def add(self, steps: list[Step]) -> None:
        self._steps.extend(steps)

    def clear(self) -> None:
        self._steps.clear()

    def __len__(self) -> int:
        return sum(step.repeat for step in self._steps)

    def next_for(self, question: str, task: str = "") -> Step | None:
        """The first step meant for this question and task, used up by asking; None where none is left.

        A talk's step is never used up by a task in the background, however much of the talk that quotes.
        """
        tasks = {task, "any"} if task else {""}
        step = next((step for step in self._steps if step.task in tasks and step.when in question), None)
        if step is not None:
            step.repeat -= 1
            if step.repeat <= 0:
                self._steps.remove(step)
        return step

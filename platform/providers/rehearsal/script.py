"""What a test scripts the rehearsal model to do, in steps for requests, and the requests that the model received."""

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from aiohttp import web

PAGE = "<!doctype html><title>Sign in</title><p>Welcome to the proxy"


@dataclass
class Step:
    """How one request is answered; what is left out is done as without a script. Times are in seconds."""

    capability: str = "chat"  # or speech, or transcription
    task: str = ""  # the step is for requests for this form, for "any" form, or by default for talks
    # The step is for requests that have this in the question, the text to be spoken or a transcription's prompt.
    when: str = ""
    repeat: int = 1
    delay: float = 0.0  # before anything is sent
    error: dict[str, Any] | None = None  # status, body, headers
    html: bool = False
    refuses: tuple[str, ...] = ()  # parts of a request: one that has any of these is answered with an error
    # For a chat
    answer: str | None = None
    pieces: list[str] | None = None
    events: list[Any] | None = None  # sent instead of an answer: a dict as JSON, a string raw
    thought: str = ""
    tool_calls: list[dict[str, Any]] | None = None
    usage: Any = True  # what to report: true for the counted tokens, false for no usage, null for a null
    finish_reason: str = ""
    delay_between: float | None = None
    cut_after: int | None = None  # after so many pieces the connection is closed
    end_after: int | None = None  # after so many pieces the body ends properly, without the end of the answer
    hang_after: int | None = None  # after so many pieces nothing comes for ten minutes
    parrots: bool = False  # repeats what it is given to remember, and learns from what it says
    # For sound
    seconds: float = 0.0  # the length of the tone
    text: str | None = None  # the transcript
    language: str = ""  # the language of the transcript
    body: str | None = None  # sent instead of the sound or the transcript, in base64
    kind: str = "audio/mpeg"  # the content type of `body`

    @classmethod
    def read(cls, wanted: dict[str, Any]) -> Self:
        """Return the step that a test wrote as JSON. Raise ValueError, naming them, if it has unknown fields."""
        if unknown := set(wanted) - {field.name for field in fields(cls)}:
            raise ValueError(f"Unknown in a step: {', '.join(sorted(unknown))}")
        return cls(**wanted)

    def is_for(self, capability: str, text: str, task: str) -> bool:
        """Return whether the step is for such a request. A background task never uses up a step for a talk."""
        tasks = {task, "any"} if task else {""}
        return self.capability == capability and self.task in tasks and self.when in text

    def refuse(self, body: Mapping[str, Any]) -> web.Response | None:
        """Return the error response that the step wants instead of an answer, or None if it wants none."""
        if self.html:
            return web.Response(text=PAGE, content_type="text/html")
        if refused := next((part for part in self.refuses if body.get(part)), ""):
            return make_error(f"Unrecognized request argument supplied: {refused}")
        if self.error is None:
            return None
        said = self.error.get("body", {"error": {"message": "scripted error"}})
        text, kind = (said, "text/plain") if isinstance(said, str) else (json.dumps(said), "application/json")
        headers = self.error.get("headers")
        return web.Response(status=self.error["status"], text=text, content_type=kind, headers=headers)


def make_error(message: str) -> web.Response:
    """Return a server's response, with status 400, to an invalid request."""
    return web.json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=400)


@dataclass
class Call:
    """One chat request in the ledger, with the tokens as this server counted them."""

    id: str
    model: str
    prompt_tokens: int
    peer_port: int
    completion_tokens: int = 0
    cached_tokens: int = 0
    state: str = "open"  # then "done", "broken" or "refused" (both as scripted), or "left" (by the client)


class Script:
    """The steps still to be played, in order, and the latest requests; all lists are bounded."""

    def __init__(self) -> None:
        self.steps: deque[Step] = deque(maxlen=10_000)
        self.calls: deque[Call] = deque(maxlen=10_000)
        self.requests: deque[dict[str, Any]] = deque(maxlen=200)
        self.sound_requests: deque[dict[str, Any]] = deque(maxlen=200)

    def take(self, capability: str, text: str, task: str = "") -> Step:
        """Return the first step for this request, and count its use; if there is none, a step that scripts nothing."""
        for step in self.steps:
            if step.is_for(capability, text, task):
                step.repeat -= 1
                if step.repeat <= 0:
                    self.steps.remove(step)
                return step
        return Step()

    def reset(self) -> None:
        """Delete all steps and recorded requests."""
        for known in (self.steps, self.calls, self.requests, self.sound_requests):
            known.clear()


SCRIPT = web.AppKey("script", Script)

"""What a test tells the rehearsal model to do, one step for each request, and what the model has been asked."""

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from aiohttp import web

PAGE = "<!doctype html><title>Sign in</title><p>Welcome to the proxy"


@dataclass
class Step:
    """How one request is answered; what is left out is as in ordinary use. Times are in seconds."""

    capability: str = "chat"  # or speech, or transcription
    task: str = ""  # only for a request for this form; "any" for whatever form, else for a talk only
    # Only where this stands in the question, the text to be spoken or a transcription's prompt.
    when: str = ""
    repeat: int = 1
    delay: float = 0.0  # before anything is sent
    error: dict[str, Any] | None = None  # status, body, headers
    html: bool = False
    refuses: tuple[str, ...] = ()  # parts of a request
    # Of a chat
    answer: str | None = None
    pieces: list[str] | None = None
    events: list[Any] | None = None  # sent as they are, a dict as JSON, a string raw
    thought: str = ""
    tool_calls: list[dict[str, Any]] | None = None
    usage: Any = True  # false for a server that sends none, null for a null
    finish_reason: str = ""
    delay_between: float | None = None
    cut_after: int | None = None  # pieces: the connection is broken
    end_after: int | None = None  # the body ends in good order, the answer does not
    hang_after: int | None = None
    parrots: bool = False  # repeats what it is given to remember, and learns from what it says
    # Of sound
    seconds: float = 0.0  # how long the tone is
    text: str | None = None  # heard
    language: str = ""  # heard
    body: str | None = None  # sent in place of the sound or of the transcript, in base64
    kind: str = "audio/mpeg"  # its content type

    @classmethod
    def read(cls, wanted: dict[str, Any]) -> Self:
        """Return the step that a test wrote as JSON; ValueError names what it does not know."""
        if unknown := set(wanted) - {field.name for field in fields(cls)}:
            raise ValueError(f"Unknown in a step: {', '.join(sorted(unknown))}")
        return cls(**wanted)

    def is_for(self, capability: str, text: str, task: str) -> bool:
        """Return whether it is meant: a talk's step is never used up by a task in the background."""
        tasks = {task, "any"} if task else {""}
        return self.capability == capability and self.task in tasks and self.when in text

    def refuse(self, body: Mapping[str, Any]) -> web.Response | None:
        """Return the error that the step wants in place of an answer, if it wants one."""
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
    """Return what a server answers to a request that it does not understand."""
    return web.json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=400)


@dataclass
class Call:
    """One chat request in the ledger, with the tokens that the server counted itself."""

    id: str
    model: str
    prompt_tokens: int
    peer_port: int
    completion_tokens: int = 0
    cached_tokens: int = 0
    state: str = "open"  # then done, broken (as scripted), refused or left (by the client)


class Script:
    """Steps still to be played, in order, and the requests that came; all of it bounded."""

    def __init__(self) -> None:
        self.steps: deque[Step] = deque(maxlen=10_000)
        self.calls: deque[Call] = deque(maxlen=10_000)
        self.requests: deque[dict[str, Any]] = deque(maxlen=200)
        self.sound_requests: deque[dict[str, Any]] = deque(maxlen=200)

    def take(self, capability: str, text: str, task: str = "") -> Step:
        """Return the first step meant for this request, used up by asking; where none is left, ordinary use."""
        for step in self.steps:
            if step.is_for(capability, text, task):
                step.repeat -= 1
                if step.repeat <= 0:
                    self.steps.remove(step)
                return step
        return Step()

    def reset(self) -> None:
        """Forget all of it."""
        for known in (self.steps, self.calls, self.requests, self.sound_requests):
            known.clear()


SCRIPT = web.AppKey("script", Script)

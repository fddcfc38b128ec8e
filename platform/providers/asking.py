"""What is asked of a server, and what it is no longer asked once it has refused it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from providers.errors import ProviderError

STREAM_OPTIONS = "stream_options"
TOOLS = "tools"
RESPONSE_FORMAT = "response_format"
REFUSES_STREAM_OPTIONS = re.compile(r"(?i)stream_options|include_usage")
REFUSES_RESPONSE_FORMAT = re.compile(
    r"(?i)response.?format|json.?schema|structured.(?:output|answer|generation)|guided.(?:json|decoding)|grammar"
)
REFUSES_TOOLS = re.compile(
    r"(?i)(?:not|n't|no\b.{0,20}) support(?:s|ed)?\b.{0,40}\b(?:tools?|functions?)\b"
    r"|\b(?:tools?|function.call\w*|tool.choice)\b.{0,40}\b(?:not|un)[ -]?(?:supported|enabled|allowed)"
    r"|(?:unknown|unrecogni[sz]ed|unexpected|unsupported|extra)\b.{0,60}\btools?\b"
    r"|\btools?\b.{0,60}(?:extra inputs|not permitted)|tool.use\b.{0,20}support"
    r"|requires? --(?:jinja|enable-auto-tool-choice)"
)
MAY_MEAN_IT = {400, 404, 405, 415, 422, 500, 501}


class Asking:
    """The body of a request, without what this server is known to refuse."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._refused: frozenset[str] = frozenset()

    @property
    def refused(self) -> frozenset[str]:
        """Which of `stream_options`, `tools` and `response_format` the server is known to refuse."""
        return self._refused

    def learn(self, refused: frozenset[str]) -> None:
        """Remember what a server refused; called once it has answered without it."""
        self._refused |= refused

    def body(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        form: Mapping[str, Any] | None,
        without: frozenset[str],
    ) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._model, "messages": list(messages), "stream": True}
        if STREAM_OPTIONS not in without:
            body[STREAM_OPTIONS] = {"include_usage": True}
        if tools and TOOLS not in without:
            body[TOOLS] = list(tools)
        if form and RESPONSE_FORMAT not in without:
            body[RESPONSE_FORMAT] = dict(form)
        return body


def refused_part(error: ProviderError, body: Mapping[str, Any]) -> str:
    """The part of the body that a server's words refuse, where it may be left out; else an empty string."""
    if error.status not in MAY_MEAN_IT:
        return ""
    if STREAM_OPTIONS in body and REFUSES_STREAM_OPTIONS.search(error.said):
        return STREAM_OPTIONS
    if RESPONSE_FORMAT in body and REFUSES_RESPONSE_FORMAT.search(error.said):
        return RESPONSE_FORMAT
    return TOOLS if TOOLS in body and REFUSES_TOOLS.search(error.said) else ""

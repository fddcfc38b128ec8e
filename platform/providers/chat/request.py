"""The body of a chat request, and what is left out of it for a server that has refused it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from providers.errors import ProviderError

Messages = Sequence[Mapping[str, Any]]

# A part of the body that may be left out, and how servers say that they do not know it.
REFUSALS = {
    "stream_options": re.compile(r"(?i)stream_options|include_usage"),
    "response_format": re.compile(
        r"(?i)response.?format|json.?schema|structured.(?:output|answer|generation)|guided.(?:json|decoding)|grammar"
    ),
    "tools": re.compile(
        r"(?i)(?:not|n't|no\b.{0,20}) support(?:s|ed)?\b.{0,40}\b(?:tools?|functions?)\b"
        r"|\b(?:tools?|function.call\w*|tool.choice)\b.{0,40}\b(?:not|un)[ -]?(?:supported|enabled|allowed)"
        r"|(?:unknown|unrecogni[sz]ed|unexpected|unsupported|extra)\b.{0,60}\btools?\b"
        r"|\btools?\b.{0,60}(?:extra inputs|not permitted)|tool.use\b.{0,20}support"
        r"|requires? --(?:jinja|enable-auto-tool-choice)"
    ),
}
REFUSING_STATUSES = {400, 404, 405, 415, 422, 500, 501}


def build_body(
    model: str, messages: Messages, tools: Messages, form: Mapping[str, Any] | None, refused: frozenset[str]
) -> dict[str, Any]:
    """Return the body of a streaming request, without the parts that the server refuses."""
    optional: dict[str, Any] = {"stream_options": {"include_usage": True}}
    if tools:
        optional["tools"] = list(tools)
    if form:
        optional["response_format"] = dict(form)
    kept = {name: part for name, part in optional.items() if name not in refused}
    return {"model": model, "messages": list(messages), "stream": True} | kept


def find_refused_part(error: ProviderError, body: Mapping[str, Any]) -> str:
    """Return the part of the body that a server's words refuse, where it may be left out; else an empty string."""
    if error.status not in REFUSING_STATUSES:
        return ""
    parts = (part for part, refusal in REFUSALS.items() if part in body and refusal.search(error.said))
    return next(parts, "")

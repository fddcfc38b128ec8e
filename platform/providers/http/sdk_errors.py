"""The errors of the SDK and its HTTP client, translated into Kith's. Importing this module loads the SDK."""

import json
import re
from collections.abc import Iterator
from typing import Any

import aiohttp
import httpx2
import openai

from providers.errors import AddressRefused, ModelLoading, ProviderError, ProviderRefused, ProviderUnavailable
from providers.http.guarded_http import OutboundError

SECRET = re.compile(r"(?i)\b(?:sk|pk|gsk|xai|hf)[-_][\w-]{8,}|(?<=bearer )\S+")
MAX_SHOWN_CHARACTERS = 500
# All that the SDK, the HTTP clients below it and their guard raise when a call fails. The SDK encodes the words beside a
# status, which need not be UTF-8.
SDK_ERRORS = (openai.APIError, httpx2.HTTPError, aiohttp.ClientError, OutboundError, UnicodeEncodeError)
FORBIDDEN = {"bad_address", "bad_port", "not_https", "not_public"}  # codes of OutboundError
TEMPORARY_REFUSALS = {408, 409, 425, 429}  # 4xx that say "later", not "never"
# What the HTTP clients raise, at the end of a chain of causes, if the server drops a connection that it had accepted.
DROPPED = (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, ConnectionResetError)


def redact(text: str, api_key: str) -> str:
    """Return the text with the key, and anything else that looks like a key, replaced by an ellipsis."""
    return SECRET.sub("…", text.replace(api_key, "…") if api_key else text)


def excerpt(came: bytes, api_key: str) -> str:
    """Return the beginning of a server's answer, redacted before it is cut: half of a key would not be recognised."""
    return redact(came.decode(errors="replace"), api_key)[:MAX_SHOWN_CHARACTERS]


def extract_message(body: object) -> str:
    """Return the message in an error's body, in any of the forms that servers use; the body as JSON if it has none."""
    found = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(found, dict):
        found = found.get("message") or found.get("detail") or found
    try:
        return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    except RecursionError:
        return "An error that is nested too deeply"


def make_error(status: int | None, message: str) -> ProviderError:
    """Return the error for an HTTP status, or for the status given inside a stream, if there was one."""
    if status == 503 and "loading model" in message.lower():
        return ModelLoading(message, status=status)
    # A redirect that may not be followed is a refusal too.
    is_refusal = status is not None and 300 <= status < 500 and status not in TEMPORARY_REFUSALS
    return (ProviderRefused if is_refusal else ProviderUnavailable)(message, status=status)


def translate_error(
    error: openai.APIError | httpx2.HTTPError | aiohttp.ClientError | OutboundError | UnicodeEncodeError,
    api_key: str,
) -> ProviderError:
    """Return Kith's error for one of the SDK, its HTTP client or the guard, with the provider's own words, redacted."""
    if isinstance(error, OutboundError):
        return (AddressRefused if error.code in FORBIDDEN else ProviderUnavailable)(str(error))
    if not isinstance(error, openai.APIStatusError):
        cause = error.__cause__ or error
        unavailable = ProviderUnavailable(redact(f"{type(cause).__name__}: {cause}", api_key))
        unavailable.is_broken_off = any(isinstance(each, DROPPED) for each in list_causes(error))
        return unavailable
    message = extract_message(error.body) if error.body else error.message
    translated = make_error(error.status_code, redact(message, api_key))
    retry_after = error.response.headers.get("retry-after", "")
    if isinstance(translated, ProviderUnavailable) and retry_after.isdecimal():  # the other form is a date
        translated.retry_after_seconds = float(retry_after)
    return translated


def list_causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error, then its cause, the cause of that, and so on."""
    while error:
        yield error
        error = error.__cause__


def translate_stream_error(error: Any, api_key: str) -> ProviderError:
    """Return Kith's error for an error object that came as an event within a stream."""
    code = error.get("code") if isinstance(error, dict) else None
    status = int(code) if isinstance(code, int) or (isinstance(code, str) and code.isdecimal()) else None
    return make_error(status, redact(extract_message(error), api_key))

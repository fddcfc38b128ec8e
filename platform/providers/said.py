"""A provider's failures, told as errors of ours."""

import json
import re
from typing import Any

import aiohttp
import httpx2
import openai

from providers.errors import ProviderError, ProviderRefused, ProviderUnavailable

SECRET = re.compile(r"(?i)\b(?:sk|pk|gsk|xai|hf)[-_][\w-]{8,}|(?<=bearer )\S+")
# Everything that the SDK and the clients below it raise when a call fails.
FAILURES = (openai.APIError, httpx2.HTTPError, aiohttp.ClientError)
PASSING = {408, 409, 425, 429}  # 4xx that say "later", not "never"
LAST_REFUSAL = 499


def hide(said: str, api_key: str) -> str:
    """The same words without the key, nor anything else that looks like one."""
    if api_key:
        said = said.replace(api_key, "…")
    return SECRET.sub("…", said)


def words(body: object) -> str:
    """The human part of an error's body, in any of the forms that servers use; else the body itself."""
    found = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(found, dict):
        found = found.get("message") or found.get("detail") or json.dumps(found, ensure_ascii=False)
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def failure(status: int | None, said: str) -> ProviderError:
    """The error for an HTTP status, or for one given inside a stream."""
    if status is not None and 400 <= status <= LAST_REFUSAL and status not in PASSING:
        return ProviderRefused(said, status=status)
    return ProviderUnavailable(said, status=status)


def told(error: openai.APIError | httpx2.HTTPError | aiohttp.ClientError, api_key: str) -> ProviderError:
    """The SDK's or its HTTP client's error as one of ours, with the provider's own words."""
    if isinstance(error, openai.APIStatusError):
        said = words(error.body) if error.body else error.message
        failed = failure(error.status_code, hide(said, api_key))
        if isinstance(failed, ProviderUnavailable):
            failed.retry_after_seconds = _seconds(error.response.headers.get("retry-after", ""))
        return failed
    cause = error.__cause__ or error
    return ProviderUnavailable(hide(f"{type(cause).__name__}: {cause}", api_key))


def told_in_stream(error: Any, api_key: str) -> ProviderError:
    """An error object sent as an event of a stream that began well."""
    code = error.get("code") if isinstance(error, dict) else None
    status = int(code) if isinstance(code, int) or (isinstance(code, str) and code.isdecimal()) else None
    return failure(status, hide(words(error), api_key))


def _seconds(header: str) -> float:
    return float(header) if header.isdecimal() else 0.0  # its other form, a date, is not worth its clock

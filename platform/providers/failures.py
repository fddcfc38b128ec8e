"""What a failed call means for whoever runs Kith: each kind of failure says what happened and what to do."""

import re
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import structlog
from django.db.models import Q

from providers.chat_provider import OWN
from providers.errors import (
    AddressRefused,
    AnswerWithheld,
    ContextTooLong,
    EmptyAnswer,
    MalformedError,
    NoVectors,
    ProviderBusy,
    ProviderError,
    ProviderRefused,
)
from providers.models import OwnProvider, Provider

log = structlog.get_logger(__name__)
Failure = Provider.Failure
MONEY = re.compile(
    r"insufficient[ _](?:quota|balance|credit|funds)|billing|payment|credit balance|余额|欠费", re.I
)
NO_MODEL = re.compile(
    r"model.{0,200}(?:not[ _]?(?:found|exist|supported|a valid)|does not(?! support)|unknown|no such)",
    re.I | re.S,
)
UNKNOWN_MODEL = re.compile(r"(?:no such|unknown|invalid|unsupported|no) model", re.I)
SILENT = re.compile(r"gave no first piece|fell silent|did not end within")
OF_THE_REQUEST = {Failure.CONTEXT, Failure.REFUSED, Failure.EMPTY}
KEY_STATUSES, MONEY_STATUS, LIMIT_STATUS, NOT_FOUND_STATUSES = {401, 403}, 402, 429, {404, 405}


def classify(error: ProviderError) -> Failure:
    """Return what kind of failure it is, by the error's class, its HTTP status, and the server's words."""
    status, said = error.status or 0, error.said
    if isinstance(error, AddressRefused):
        return Failure.FORBIDDEN
    if isinstance(error, ContextTooLong):
        return Failure.CONTEXT
    if isinstance(error, EmptyAnswer | MalformedError):
        return Failure.EMPTY
    if isinstance(error, AnswerWithheld):
        return Failure.REFUSED
    if isinstance(error, NoVectors):
        return Failure.VECTORS
    if said.startswith("HTML came"):
        return Failure.HTML
    if said.startswith("What came was no"):
        return Failure.ADDRESS
    if status == MONEY_STATUS or (status >= 400 and MONEY.search(said)):
        return Failure.MONEY
    if status in KEY_STATUSES:
        return Failure.KEY
    if status >= 400 and (NO_MODEL.search(said) or UNKNOWN_MODEL.search(said)):
        return Failure.MODEL
    if status in NOT_FOUND_STATUSES:
        return Failure.ADDRESS
    if status == LIMIT_STATUS:
        return Failure.LIMIT
    if 300 <= status < 400:
        return Failure.REDIRECT
    if status:
        return Failure.REFUSED if status < 500 else Failure.BROKEN
    return Failure.SILENT if SILENT.search(said) else Failure.UNREACHABLE


def may_another_server_answer(error: ProviderError) -> bool:
    """Return whether another server may answer.

    Not if this one was only busy, refused the prompt's length or the request itself (and not its key or model), or gave
    an empty or malformed answer.
    """
    return not isinstance(error, ProviderBusy) and classify(error) not in OF_THE_REQUEST


def may_another_model_answer(error: ProviderError) -> bool:
    """Return whether another model may answer.

    It may if another server may, and on ProviderBusy, AnswerWithheld or a plain ProviderRefused.
    """
    return (
        may_another_server_answer(error)
        or isinstance(error, ProviderBusy | AnswerWithheld)
        or type(error) is ProviderRefused
    )


def note_failure(place: str, model: str, error: ProviderError, now: datetime, user_id: int | None) -> None:
    """Log the error, and save it as the last one of the provider with that address and model, or that model's file.

    If `place` is OWN, it is saved at the person's own provider of that model. ProviderBusy is not saved.
    """
    if isinstance(error, ProviderBusy):
        return
    failure = classify(error)
    if place == OWN:
        failed: Any = OwnProvider.objects.owned_by(user_id).filter(model=model)
    else:
        failed = Provider.objects.filter(Q(base_url=place) | ~Q(engine_file=""), model=model)
        # Not what the server said, which may quote the prompt; an address may hold a password.
        host = urlsplit(place).netloc.rpartition("@")[2]
        log.warning(
            "provider_failed", host=host, model=model, failure=failure.value, status=error.status or None
        )
    failed.update(last_error=failure, last_error_at=now)

"""Answers for a page's scripts."""

from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Any, Concatenate, ParamSpec

from django.http import HttpResponse, JsonResponse
from django.utils.translation import gettext as _

from accounts.errors import GateError, RefusedError
from accounts.signed_in import SignedInRequest
from companions.replies.database import AWAY

P = ParamSpec("P")
View = Callable[Concatenate[SignedInRequest, P], Coroutine[Any, Any, HttpResponse]]
LATER = 503
NOTHING: Mapping[str, object] = MappingProxyType({})


def in_words(view: View[P]) -> View[P]:
    """The view; what goes wrong in it is told as JSON, with a code and a sentence."""

    @wraps(view)
    async def telling(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            return await view(request, *args, **kwargs)
        except RefusedError as error:
            response = _told(error.code, str(error.detail), error.status, error.more)
            if isinstance(error, GateError):
                response["Retry-After"] = str(error.retry_after_seconds)
            return response
        except AWAY:
            words = _("Kith's database does not answer right now. Try again in a moment.")
            return _told("database_away", words, LATER)

    return telling


def _told(code: str, detail: str, status: int, more: Mapping[str, object] = NOTHING) -> JsonResponse:
    return JsonResponse({**more, "code": code, "detail": detail}, status=status)

"""Refusals as JSON, for the views that a page's scripts call."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.http import HttpResponseBase, JsonResponse
from django.utils.translation import gettext as _

from accounts.authentication import SignedInRequest
from accounts.errors import RefusedError
from database.queries import DATABASE_UNAVAILABLE, describe_full_disk, is_disk_full
from files.storage import refuse_full_disk

P = ParamSpec("P")
View = Callable[Concatenate[SignedInRequest, P], Coroutine[Any, Any, HttpResponseBase]]


def refusals_as_json(view: View[P]) -> View[P]:
    """Wrap an async view so that a RefusedError, a database failure or a full disk is answered as JSON.

    The answer has a code and a sentence.
    """

    @wraps(view)
    async def answering(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        try:
            return await view(request, *args, **kwargs)
        except RefusedError as error:
            return _as_json(error)
        except DATABASE_UNAVAILABLE as error:
            detail = describe_full_disk(error) or _(
                "Kith's database is not answering right now. Try again in a moment."
            )
            return JsonResponse({"code": "database_away", "detail": detail}, status=503)
        except OSError as error:
            if not is_disk_full(error):
                raise
            return _as_json(refuse_full_disk(error))

    return answering


def _as_json(error: RefusedError) -> JsonResponse:
    body = {**error.more, "code": error.code, "detail": str(error.detail)}
    return JsonResponse(body, status=error.status, headers=error.headers)

"""Refusals as JSON, for the views that a page's scripts call."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.http import HttpResponseBase, JsonResponse
from django.utils.translation import gettext as _

from accounts.authentication import SignedInRequest
from accounts.errors import RefusedError
from database.queries import DATABASE_UNAVAILABLE, describe_full_disk

P = ParamSpec("P")
View = Callable[Concatenate[SignedInRequest, P], Coroutine[Any, Any, HttpResponseBase]]


def refusals_as_json(view: View[P]) -> View[P]:
    """Wrap an async view so that a RefusedError or a database failure is answered as JSON, with code and sentence."""

    @wraps(view)
    async def answering(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        try:
            return await view(request, *args, **kwargs)
        except RefusedError as error:
            body = {**error.more, "code": error.code, "detail": str(error.detail)}
            return JsonResponse(body, status=error.status, headers=error.headers)
        except DATABASE_UNAVAILABLE as error:
            detail = describe_full_disk(error) or _(
                "Kith's database is not answering right now. Try again in a moment."
            )
            return JsonResponse({"code": "database_away", "detail": detail}, status=503)

    return answering

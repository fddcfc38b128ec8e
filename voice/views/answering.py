"""Answers for a page's scripts."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.http import HttpResponse, JsonResponse
from django.utils.translation import gettext as _

from accounts.errors import RefusedError
from accounts.signed_in import SignedInRequest
from database.threads import DATABASE_UNAVAILABLE

P = ParamSpec("P")
View = Callable[Concatenate[SignedInRequest, P], Coroutine[Any, Any, HttpResponse]]
LATER = 503


def in_words(view: View[P]) -> View[P]:
    """The view; what goes wrong in it is told as JSON, with a code and a sentence."""

    @wraps(view)
    async def telling(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            return await view(request, *args, **kwargs)
        except RefusedError as error:
            told = {**error.more, "code": error.code, "detail": str(error.detail)}
            return JsonResponse(told, status=error.status, headers=error.headers)
        except DATABASE_UNAVAILABLE:
            words = _("Kith's database does not answer right now. Try again in a moment.")
            return JsonResponse({"code": "database_away", "detail": words}, status=LATER)

    return telling

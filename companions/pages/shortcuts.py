"""Helpers for pages: decorators for the three kinds of view, lists by cursor, redirects, the form fields of a new
companion, and the embedding of a question.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from accounts.authentication import SignedInRequest
from accounts.limits.rates import admit_to
from companions.models import Companion
from companions.pagination import CursorError, PageIn, paginate_merged
from memory.embedding import embed_cue
from memory.embedding.spaces import CueVector
from text.strings import storable

T = TypeVar("T")
View = TypeVar("View", bound=Callable[..., Any])
UNPROCESSABLE = 422  # the status of a form with errors


def page_view(view: View) -> View:
    """Wrap a view that only shows a page to a signed-in person (GET)."""
    return require_safe(login_required(never_cache(view)))


def form_view(view: View) -> View:
    """Wrap a view that shows a page to a signed-in person and takes its form (GET and POST)."""
    return require_http_methods(["GET", "HEAD", "POST"])(login_required(never_cache(view)))


def post_view(view: View) -> View:
    """Wrap a view that only takes a POST of a signed-in person."""
    return require_POST(login_required(view))


def list_page(
    sources: Sequence[tuple[QuerySet[Any], str]], cursor: str | None, limit: int
) -> tuple[list[Any], str | None]:
    """Return a page of the rows of all sources, newest first, and the next cursor; raise Http404 for a bad `cursor`.

    Each source is a queryset with the name of its time field.
    """
    return read_page(partial(paginate_merged, sources), cursor, limit)


def read_page(read: Callable[[PageIn], T], cursor: str | None, limit: int) -> T:
    """Return what `read` returns for the page from `cursor` on; raise Http404 for a bad cursor."""
    try:
        return read(PageIn(limit=limit, cursor=cursor or None))
    except (CursorError, ValueError) as error:
        raise Http404 from error


def redirect_whole(request: SignedInRequest, name: str, *args: object) -> HttpResponse:
    """Redirect to the page with this URL name, and not only the part of a page that htmx asked for."""
    address = reverse(name, args=args)
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)


def redirect_back(request: HttpRequest, name: str, *args: object) -> HttpResponse:
    """Redirect to the page in the posted `next` if it is on this site, otherwise to the one with this URL name."""
    back = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure())
    return redirect(back) if is_ours else redirect(name, *args)


def read_beginning(request: HttpRequest) -> tuple[str, int]:
    """Return the name of a new companion ("" to keep the character's) and the index of its greeting, from the fields of
    `companions/_beginning.html`.
    """
    name, number = storable(request.POST.get("name", "")).strip()[:80], request.POST.get("greeting", "")[:4]
    return name, int(number) if number.isdecimal() else 0


def embed_question(
    companion: Companion, question: str, now: datetime, *, rate: str = "recalls"
) -> CueVector | None:
    """Embed the question at the person's expense; raise GateError if they asked more often than settings.RATES allows.

    Return None if the day's tokens are used up or no embedder answers; the search then goes by words alone.
    """
    admit_to(companion.user, rate, now)
    return embed_cue(question, companion.payer, companion.names)

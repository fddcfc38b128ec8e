"""What pages share: the three kinds of view, lists by the cursor in `?cursor=`, how a new companion begins, and a
question in the reader's words.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.rates import admit_to
from accounts.usage import Payer
from companions.models import Companion
from companions.pagination import CursorError, PageIn, paginate_merged
from memory.embedding import embed_cue
from memory.embedding.spaces import CueVector

T = TypeVar("T")
View = TypeVar("View", bound=Callable[..., Any])
UNPROCESSABLE = 422  # a form comes back with its errors


def page_view(view: View) -> View:
    """Wrap a view that only shows a page, to whoever is signed in."""
    return require_safe(login_required(never_cache(view)))


def form_view(view: View) -> View:
    """Wrap a view that shows a page and takes its form back."""
    return require_http_methods(["GET", "HEAD", "POST"])(login_required(never_cache(view)))


def post_view(view: View) -> View:
    """Wrap a view that only takes a POST."""
    return require_POST(login_required(view))


def list_page(
    sources: Sequence[tuple[QuerySet[Any], str]], cursor: str | None, limit: int
) -> tuple[list[Any], str | None]:
    """Return a page of rows, newest first, each source with its time, and the next cursor; Http404 for a bad one."""
    return read_page(partial(paginate_merged, sources), cursor, limit)


def read_page(read: Callable[[PageIn], T], cursor: str | None, limit: int) -> T:
    """Return the page that `read` returns from that cursor on; Http404 for a bad one."""
    try:
        return read(PageIn(limit=limit, cursor=cursor or None))
    except (CursorError, ValueError) as error:
        raise Http404 from error


def read_beginning(request: HttpRequest) -> tuple[str, int]:
    """Return the name that a new companion shall have, empty for its own, and the number of its first greeting, as the
    fields of `companions/_beginning.html` say.
    """
    name, number = request.POST.get("name", "").strip()[:80], request.POST.get("greeting", "")[:4]
    return name, int(number) if number.isdecimal() else 0


def embed_question(
    companion: Companion, question: str, now: datetime, *, rate: str = "recalls"
) -> CueVector | None:
    """Embed the question on the person's account, at most as often as settings.RATES says (GateError).

    Return None where the day's tokens are used up, or no embedder answers: words then decide alone.
    """
    admit_to(companion.user, rate, now)
    return embed_cue(question, Payer(companion.user_id, companion.pk), companion.names)

"""The three kinds of page: to look at, with a form that is sent back to it, and to send something to."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.contrib.auth.decorators import login_required
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

View = TypeVar("View", bound=Callable[..., Any])
UNPROCESSABLE = 422  # a form comes back with its errors


def page_view(view: View) -> View:
    return require_safe(login_required(never_cache(view)))


def form_view(view: View) -> View:
    return require_http_methods(["GET", "HEAD", "POST"])(login_required(never_cache(view)))


def post_view(view: View) -> View:
    return require_POST(login_required(view))

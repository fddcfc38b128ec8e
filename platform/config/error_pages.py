"""The page for an error that no view answers."""

import sys

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views import defaults

from database.queries import DATABASE_UNAVAILABLE, describe_full_disk


def server_error(request: HttpRequest) -> HttpResponse:
    """Return the page that asks to wait, with status 503, if the database is unavailable, otherwise that of status 500.

    Neither page asks the database, nor anything of the request.
    """
    error = sys.exc_info()[1]
    if isinstance(error, DATABASE_UNAVAILABLE):
        return HttpResponse(render_to_string("503.html", {"full": describe_full_disk(error)}), status=503)
    return defaults.server_error(request)

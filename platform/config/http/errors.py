"""What is shown of an error that no view answers: its page, and what Django's reports of it may hold."""

import sys
from collections.abc import ItemsView
from types import FrameType
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views import defaults
from django.views.debug import SafeExceptionReporterFilter

from database.queries import DATABASE_UNAVAILABLE, describe_full_disk, is_disk_full


def server_error(request: HttpRequest) -> HttpResponse:
    """Return the page that asks to wait, with status 503, if the database is unavailable or a disk full, otherwise that
    of status 500.

    Neither page asks the database, nor anything of the request.
    """
    error = sys.exc_info()[1]
    if error and (isinstance(error, DATABASE_UNAVAILABLE) or is_disk_full(error)):
        return HttpResponse(render_to_string("503.html", {"full": describe_full_disk(error)}), status=503)
    return defaults.server_error(request)


class ReportFilter(SafeExceptionReporterFilter):
    """Leaves out all variables, since any of them may hold a key or a person's words.

    It is for operators who have the reports mailed or shown; Kith itself does neither.
    """

    def get_traceback_frame_variables(
        self, request: HttpRequest | None, tb_frame: FrameType
    ) -> ItemsView[str, Any]:
        """Return no variables."""
        return dict[str, Any]().items()

"""The filter of Django's error reports, for operators who have these mailed or shown; Kith itself does neither."""

from collections.abc import ItemsView
from types import FrameType
from typing import Any

from django.http import HttpRequest
from django.views.debug import SafeExceptionReporterFilter


class ReportFilter(SafeExceptionReporterFilter):
    """Leaves out all variables, since any of them may hold a key or a person's words."""

    def get_traceback_frame_variables(
        self, request: HttpRequest | None, tb_frame: FrameType
    ) -> ItemsView[str, Any]:
        """Return no variables."""
        return dict[str, Any]().items()

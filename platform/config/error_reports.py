"""What Django's reports of an error hold, for whoever has them sent or shown: Kith itself does neither."""

from collections.abc import ItemsView
from types import FrameType
from typing import Any

from django.http import HttpRequest
from django.views.debug import SafeExceptionReporterFilter


class ReportFilter(SafeExceptionReporterFilter):
    """Leaves out the values of variables: any of them may be a key, or what a person said."""

    def get_traceback_frame_variables(
        self, request: HttpRequest | None, tb_frame: FrameType
    ) -> ItemsView[str, Any]:
        """Return none."""
        return dict[str, Any]().items()

"""Tasks in the background of a process: what breaks them is logged."""

import asyncio

import pytest
from django.db import OperationalError
from psycopg.errors import DiskFull
from structlog.testing import capture_logs

from jobs.background import run_in_background


@pytest.mark.parametrize(
    ("error", "cause", "event"),
    [(ZeroDivisionError(), None, "background_task_failed"), (OperationalError(), DiskFull(), "disk_full")],
)
async def test_what_breaks_a_task_is_logged(error: Exception, cause: Exception | None, event: str) -> None:
    async def work() -> None:
        raise error from cause

    with capture_logs() as logged:
        run_in_background(work())
        await asyncio.sleep(0.01)
    assert [(one["event"], one["log_level"]) for one in logged] == [(event, "error")]

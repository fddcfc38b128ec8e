"""Tasks of downloads: one goes on with a file, the other finds those that wait, or whose process died."""

import threading
from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down
from django.utils import timezone

from jobs.background import enqueue
from providers.downloads.models import Download
from providers.downloads.transfer import run_download

MAX_AT_ONCE = 2  # each takes a thread of the worker's for hours
STOPPING = threading.Event()


@worker_shutting_down.connect
def _stop(**_: Any) -> None:
    STOPPING.set()


@shared_task
def fetch_file(download_id: str) -> None:
    """Go on with one file until it is there or has to wait."""
    run_download(int(download_id), timezone.now, is_stopping=STOPPING.is_set)


@shared_task
def resume_downloads() -> None:
    """Go on with the oldest downloads that are due; for one that is under way nothing happens."""
    due = Download.objects.filter(state=Download.State.ACTIVE, next_at__lte=timezone.now())
    for download_id in due.order_by("pk").values_list("pk", flat=True)[:MAX_AT_ONCE]:
        enqueue("providers.downloads.tasks.fetch_file", str(download_id))

"""Tasks of downloads: one continues a file, the other finds downloads that are due or whose process died."""

import threading
from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down
from django.utils import timezone

from jobs.background import enqueue
from providers.downloads.models import Download
from providers.downloads.transfer import run_download

MAX_AT_ONCE = 2  # each occupies a thread of the worker for hours
STOPPING = threading.Event()


@worker_shutting_down.connect
def _stop(**_: Any) -> None:
    STOPPING.set()


@shared_task
def fetch_file(download_id: str) -> None:
    """Continue one download until it is done or has to wait."""
    run_download(int(download_id), timezone.now, is_stopping=STOPPING.is_set)


@shared_task
def resume_downloads() -> None:
    """Enqueue `fetch_file` for the MAX_AT_ONCE oldest due downloads; for one that is being fetched it does nothing."""
    due = Download.objects.filter(state=Download.State.ACTIVE, next_at__lte=timezone.now())
    for download_id in due.order_by("pk").values_list("pk", flat=True)[:MAX_AT_ONCE]:
        enqueue("providers.downloads.tasks.fetch_file", str(download_id))

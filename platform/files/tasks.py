from celery import shared_task
from django.utils import timezone

from files.contents import sweep
from files.errors import StorageAwayError


@shared_task
def sweep_contents() -> None:
    """Remove what no row names; a storage that is away is swept the next time."""
    try:
        sweep(timezone.now())
    except StorageAwayError:
        return  # it is in the log

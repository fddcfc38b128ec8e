from celery import shared_task
from django.utils import timezone

from files.errors import StorageAwayError
from files.sweeping import sweep


@shared_task
def sweep_contents() -> None:
    """Remove what no row names; a storage that is away is swept the next time."""
    try:
        sweep(timezone.now())
    except StorageAwayError:
        return  # it is in the log

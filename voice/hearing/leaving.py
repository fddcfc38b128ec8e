"""Recordings that go: with the message that they became, or unsent."""

from datetime import datetime, timedelta

from django.db.models.signals import post_delete
from django.dispatch import receiver

from files.models import StoredFile
from voice.models import Recording

UNSENT_KEPT = timedelta(days=1)
BATCH = 500


@receiver(post_delete, sender=Recording)
def _drop_sound(instance: Recording, **_: object) -> None:
    """Whatever deletes a recording deletes its sound."""
    StoredFile.objects.filter(pk=instance.file_id).delete()


def sweep(now: datetime) -> int:
    """Delete the recordings that were not sent within a day, and sounds that never became one; how many there were."""
    since, count = now - UNSENT_KEPT, 0
    unsent = Recording.objects.filter(message=None, created_at__lt=since)
    while ids := list(unsent.values_list("pk", flat=True)[:BATCH]):
        count += len(ids)
        Recording.objects.filter(pk__in=ids, message=None).delete()
    lone = StoredFile.objects.filter(kind=StoredFile.Kind.RECORDING, recording=None, created_at__lt=since)
    return count + lone.delete()[0]

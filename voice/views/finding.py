"""What the person who asks owns; another's thing is a 404."""

from uuid import UUID

from django.shortcuts import get_object_or_404

from accounts.models import User
from voice.models import Recording


def my_recording(user: User, companion_id: UUID, recording_id: UUID) -> Recording:
    mine = Recording.objects.owned_by(user).filter(companion=companion_id)
    joined = mine.select_related("companion__user", "companion__conversation", "file", "message__companion")
    return get_object_or_404(joined, pk=recording_id)

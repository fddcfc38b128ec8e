"""Deleting a page: whoever deletes its gist wants what stands there gone. Its number stays: others keep theirs."""

from collections.abc import Collection
from uuid import UUID

from memory.models import Page


def empty(companion_id: UUID, gist_ids: Collection[UUID]) -> None:
    """The pages of these gists hold nothing any more, and no gist is written for them again."""
    Page.objects.filter(companion_id=companion_id, memory__in=gist_ids).update(text="", gist="", call=None)

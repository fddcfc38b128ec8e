"""Sentences that were written from what goes: taken out of every revision, old ones too."""

from collections.abc import Mapping, Sequence
from typing import Any

from memory.models import Revision
from memory.understanding import revise
from memory.unlearning.gone import Gone


def take_out(gone: Gone) -> None:
    """Each revision is left without them; where the one that holds is touched, another one holds from now on.

    So whoever thinks about the one before meanwhile finds that it does not hold any more.
    """
    for about in Revision.About:
        every = list(Revision.objects.of(gone.companion_id, about))
        touched = [one for one in every if any(map(gone.is_behind, one.sentences))]
        if touched and touched[0] is every[0]:
            left = without(every[0].sentences, gone)
            revise(gone.companion_id, about, left, Revision.By.DELETION, gone.now)
        for one in touched:
            one.sentences, one.is_stale = without(one.sentences, gone), True
        Revision.objects.filter(companion_id=gone.companion_id).bulk_update(
            touched, ["sentences", "is_stale"], batch_size=200
        )


def without(sentences: Sequence[Mapping[str, Any]], gone: Gone) -> list[dict[str, Any]]:
    """The sentences that do not come from what goes."""
    return [dict(one) for one in sentences if not gone.is_behind(one)]

"""Breaking in: what was not heard of a reply was not said, and no sound of it is kept either."""

from datetime import datetime

from django.db import transaction

from companions.models import Reply
from companions.replies.heard import keep_heard
from voice.models import Spoken
from voice.sentences import sentences_of


@transaction.atomic
def keep_heard_aloud(reply: Reply, until: int, now: datetime) -> Reply | None:
    """The same as `keep_heard`; the sentences from the one on in which it was broken off are not kept as sound."""
    kept = keep_heard(reply, until, now)
    if kept and kept.state == Reply.State.STOPPED:
        whole = len(sentences_of(kept.text)) - 1
        Spoken.objects.filter(reply=kept, number__gte=max(whole, 0)).delete()
    return kept

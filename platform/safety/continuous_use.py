"""How long a person has talked without a pause, and the notices that are due for it."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from accounts.models import User
from safety.models import ContinuousUse, Notice

PAUSE = timedelta(minutes=30)  # whoever is silent for so long has had a break


@transaction.atomic
def record_use(user: User, said_at: datetime, now: datetime) -> list[Notice]:
    """Count that the person talked from `said_at` until `now`; save and return the notices that are due by it.

    Whatever they talk through, and with whom: there is one count a person. A message that comes out of order moves
    nothing back.
    """
    use, _is_new = ContinuousUse.objects.select_for_update().get_or_create(
        user=user, defaults={"begun_at": said_at, "last_at": said_at}
    )
    if said_at - use.last_at >= PAUSE:
        use.begun_at, use.told_at = said_at, None
    use.last_at = max(use.last_at, now)
    notices = []
    today = now.astimezone(user.zone).date()
    if use.ai_told_on is None or use.ai_told_on < today:
        use.ai_told_on = today
        notices.append(Notice(user=user, kind=Notice.Kind.AI, made_at=now))
    if now - (use.told_at or use.begun_at) >= settings.BREAK_AFTER:
        use.told_at = now
        minutes = int((now - use.begun_at).total_seconds() // 60)
        notices.append(Notice(user=user, kind=Notice.Kind.BREAK, minutes=minutes, made_at=now))
    use.save()
    return Notice.objects.bulk_create(notices)

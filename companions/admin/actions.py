"""Actions on what is chosen in operators' lists, each on record."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from companions.errors import TimerError
from safety.admin import PrivateAdmin
from safety.audit import record
from safety.models import AuditEntry


class ActionAdmin(PrivateAdmin):
    """An admin with actions on chosen things, for who may change such things."""

    def has_act_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(f"companions.change_{self.opts.model_name}"))

    def act(
        self, request: Any, queryset: QuerySet[Any], action: Callable[[Any, datetime], object]
    ) -> tuple[int, int]:
        """Act on each thing, in a transaction of its own and on record; return how many did change, and did not."""
        things, changed = list(queryset), 0  # read once: what has changed may not be in the list any more
        for thing in things:
            try:
                with transaction.atomic():
                    if action(thing, timezone.now()):
                        owner = self.owner_of(thing.pk)
                        record(request.user, AuditEntry.Deed.CHANGED, self.model, thing.pk, owner)
                        changed += 1
            except TimerError:
                continue
        return changed, len(things) - changed

"""Columns of operators' lists, and actions on what is chosen there, each on record."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from companions.errors import TimerError
from safety.admin import PrivateAdmin
from safety.audit import record
from safety.models import AuditEntry


def number(name: str, description: Any) -> Callable[[Any], int]:
    """Return a column for a number that the list is annotated with."""

    @admin.display(description=description, ordering=name)
    def shown(thing: Any) -> int:
        return int(getattr(thing, name) or 0)

    shown.__name__ = name
    return shown


def state(colours: Mapping[Any, str]) -> Callable[[Any, Any], tuple[str, str]]:
    """Return a column for the state of a thing, as a method of its admin."""

    @display(description=_("state"), ordering="state", label=colours)  # type: ignore[untyped-decorator]
    def shown_state(self: Any, thing: Any) -> tuple[str, str]:
        return thing.state, thing.get_state_display()

    return shown_state  # type: ignore[no-any-return]


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

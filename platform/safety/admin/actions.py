"""The base class of admins whose list actions are recorded in the audit log."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, ClassVar

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts.errors import RefusedError
from safety.admin.private import PrivateAdmin
from safety.admin.reason import find_reason
from safety.audit import get_operator, record
from safety.models import AuditEntry


class ActionAdmin(PrivateAdmin):
    """An admin with actions on selected rows, for operators with the permission to change them.

    A row's own page has a button for each action that the row's state is in `offered_in` for.
    """

    offered_in: ClassVar[dict[str, tuple[str, ...]]] = {}

    def has_act_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}"))

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Any = None, **kwargs: Any
    ) -> Any:
        if obj is not None:
            actions = self.get_actions(request).values()
            context["offered"] = [
                (name, title) for _act, name, title in actions if obj.state in self.offered_in.get(name, ())
            ]
        return super().render_change_form(request, context, *args, obj=obj, **kwargs)

    def act(
        self, request: HttpRequest, queryset: QuerySet[Any], action: Callable[[Any, datetime], object]
    ) -> tuple[int, int]:
        """Apply `action` to each row in its own recorded transaction; return how many changed and how many did not.

        `action` returns something false, or raises RefusedError, for a row that it does not change.
        """
        things, changed = list(queryset), 0  # evaluated once: a changed row may leave the list
        for thing in things:
            try:
                with transaction.atomic():
                    if action(thing, timezone.now()):
                        owner = self.owner_of(thing.pk)
                        why = find_reason(request, owner)
                        record(
                            get_operator(request), AuditEntry.Deed.CHANGED, self.model, thing.pk, owner, why
                        )
                        changed += 1
            except RefusedError:
                continue
        return changed, len(things) - changed

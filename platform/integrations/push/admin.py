"""Push subscriptions in the admin: operators see neither address nor keys."""

from typing import Any

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from integrations.push.models import Subscription
from safety.admin import PrivateAdmin, moment


@admin.register(Subscription)
class SubscriptionAdmin(PrivateAdmin):
    named_by = "created_at"
    titled_by = "browser"
    owner_path = "user"
    search_ids = ("pk", "user")
    list_display: Any = (
        moment("created_at", _("created")),
        *("owner", "failures"),
        moment("used_at", _("last reached")),
    )
    list_filter = ("failures", "created_at")
    fields = ("id", "owner", "browser", "failures", "created_at", "used_at")

"""The admin of uploaded archives."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from companions.models import ArchiveUpload
from safety.admin import PrivateAdmin, moment


@admin.register(ArchiveUpload)
class ArchiveUploadAdmin(PrivateAdmin):
    """An uploaded archive: before its restore, while it is restored, or afterwards."""

    owner_path = "user"
    words = ("manifest", "error")
    search_ids = ("pk", "companion")
    list_display = (
        "page",
        "owner",
        "of_companion",
        "state",
        "done",
        "total",
        moment("created_at", _("uploaded")),
    )
    list_filter = ("state", "created_at")
    fields = (
        *("id", "owner", "of_companion", "state", "done", "total", "code", "attempts", "look_at"),
        *("created_at", "ended_at"),
    )

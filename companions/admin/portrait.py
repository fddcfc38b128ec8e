from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from companions.models import Picture, Portrait
from safety.admin import PrivateAdmin, link_to


@admin.register(Portrait)
class PortraitAdmin(PrivateAdmin):
    """What was chosen of a companion's drawn face."""

    words = ("chosen",)
    search_ids = ("pk",)
    list_display = ("short_id", "owner", "of_companion", "seed")
    ordering = ("-pk",)
    fields = ("owner", "of_companion", "seed")


@admin.register(Picture)
class PictureAdmin(PrivateAdmin):
    """A picture that takes the portrait's place."""

    list_display = ("id", "owner", "of_companion", "emotion", "of_file")
    list_filter = ("emotion",)
    search_ids = ("pk", "companion", "file")
    ordering = ("-pk",)
    fields = ("id", "owner", "of_companion", "emotion", "of_file")

    @admin.display(description=_("file"))
    def of_file(self, picture: Picture) -> str:
        return link_to("files.storedfile", picture.file_id)

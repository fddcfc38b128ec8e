"""The admin of the character cards that companions came from, versions of characters, and lorebooks."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from cards.reader import REMARKS
from companions.models import Card, CardUpload, CharacterVersion, Lorebook, LoreEntry, LoreFiring
from safety.admin import PrivateAdmin, data_column, describe_name, link, moment


def describe_remark(remark: str) -> str:
    """Return the sentence for the code of a remark that the card reader made."""
    return str(REMARKS.get(remark, remark))


@admin.register(Card)
class CardAdmin(PrivateAdmin):
    """The parts of a companion's card that Kith does not use."""

    words = ("content",)
    titled_by = "companion_called"
    search_ids = ("pk", "sha256")
    list_display = ("page", "owner", "of_companion", moment("created_at", _("received")))
    ordering = ("-pk",)
    fields = ("owner", "of_companion", "sha256", "created_at")


@admin.register(CardUpload)
class CardUploadAdmin(PrivateAdmin):
    """An uploaded card, which is being looked at before an import."""

    owner_path = "user"
    words = ("content",)
    search_ids = ("pk", "sha256")
    list_display = ("page", "owner", "form", "version", moment("created_at", _("uploaded")))
    fields = (
        *("id", "owner", "form", "version", data_column("remarks", _("remarks"), describe=describe_remark)),
        *("sha256", "created_at"),
    )

    def entitle(self, thing: CardUpload) -> str:
        return describe_name((thing.content.get("data") or {}).get("name")) or super().entitle(thing)


@admin.register(CharacterVersion)
class CharacterVersionAdmin(PrivateAdmin):
    """The texts of a character as they were before a change."""

    words = ("texts",)
    search_ids = ("pk", "companion")
    list_display = ("page", "owner", "of_companion", "number", "changed_by", moment("changed_at", _("until")))
    list_filter = ("changed_by", "changed_at")
    ordering = ("-changed_at",)
    fields = ("id", "owner", "of_companion", "number", "changed", "changed_by", "size", "changed_at")


@admin.register(Lorebook)
class LorebookAdmin(PrivateAdmin):
    """A lorebook of one companion, or one that a user has for all companions."""

    named_by = "created_at"
    titled_by = "name"
    owner_path = "user"
    words = ("name", "data")
    search_ids = ("pk", "companion")
    list_display = ("page", "owner", "of_companion", "is_enabled", moment("created_at", _("created")))
    list_filter = ("is_enabled", "created_at")
    fields = (
        *("id", "owner", "of_companion", "is_enabled", "scan_depth", "token_budget", "is_recursive"),
        "created_at",
    )


@admin.register(LoreEntry)
class LoreEntryAdmin(PrivateAdmin):
    """An entry of a lorebook, with its keys and its text."""

    owner_path = "lorebook__user"
    titled_by = "title"
    words = ("data",)
    search_ids = ("pk", "lorebook")
    list_display = ("page", "owner", "of_book", "place")
    ordering = ("-pk",)
    fields = ("id", "owner", "of_book", "place")

    of_book = link("lorebook", _("lorebook"))


@admin.register(LoreFiring)
class LoreFiringAdmin(PrivateAdmin):
    """A match of a lore entry that has rules counting messages, and the message at which it matched."""

    search_ids = ("pk", "entry", "message")
    list_display = ("page", "owner", "of_companion", "of_entry", "of_message")
    ordering = ("-pk",)
    fields = ("id", "owner", "of_companion", "of_entry", "of_message")

    of_entry = link("entry", _("entry"))
    of_message = link("message", _("message"))

"""The admin's sidebar: its groups of tables, with plain names and with the number of failed rows; its logo and style."""

from typing import Any

from django.apps import apps
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from config.admin.dashboard import RECENT_WINDOW, count_failed
from config.admin.engines import RIGHTS


def logo(request: HttpRequest) -> str:
    return static("admin/kith.svg")


def style(request: HttpRequest) -> str:
    return static("admin/kith.css")


def script(request: HttpRequest) -> str:
    return static("admin/kith.js")


def list_rooms() -> dict[str, dict[str, tuple[str, str]]]:
    """Return the sidebar's groups of tables: by each table's model label a plain name and an icon."""
    return {
        _("People"): {
            "accounts.User": (_("People"), "person"),
            "account.EmailAddress": (_("E-mail addresses"), "alternate_email"),
            "accounts.Invitation": (_("Invitations"), "mail"),
            "accounts.AccountDeletion": (_("Accounts that people deleted"), "person_off"),
            "accounts.Token": (_("API tokens"), "key"),
            "accounts.IdempotencyKey": (_("Writes through the API"), "done_all"),
            "push.Subscription": (_("Browsers with notifications"), "notifications"),
        },
        _("Companions"): {
            "companions.Companion": (_("Companions"), "local_fire_department"),
            "companions.Mind": (_("Which model speaks"), "psychology"),
            "companions.Comparison": (_("Comparisons of models"), "compare_arrows"),
            "companions.ComparedExchange": (_("Compared answers"), "compare"),
            "companions.Card": (_("Cards they came from"), "badge"),
            "companions.CardUpload": (_("Uploaded cards"), "upload_file"),
            "companions.CharacterVersion": (_("Versions of characters"), "history"),
            "companions.PastUpload": (_("Uploaded earlier talk"), "upload_file"),
            "companions.PastImport": (_("Imported earlier talk"), "history"),
            "companions.ArchiveUpload": (_("Uploaded archives"), "move_to_inbox"),
            "companions.Lorebook": (_("Lorebooks"), "auto_stories"),
            "companions.LoreEntry": (_("Lorebook entries"), "short_text"),
            "companions.LoreFiring": (_("When lore was triggered"), "bolt"),
            "voice.Voice": (_("Voices"), "record_voice_over"),
            "companions.Portrait": (_("Drawn faces"), "face"),
            "companions.Picture": (_("Own pictures"), "image"),
        },
        _("Gallery"): {
            "companions.GalleryVersion": (_("Sent in and published"), "storefront"),
            "companions.GalleryCharacter": (_("Published characters"), "groups"),
            "companions.GalleryReport": (_("Reports about characters"), "report"),
        },
        _("Talks"): {
            "companions.Conversation": (_("Whole talks"), "forum"),
            "companions.Branch": (_("Branches"), "alt_route"),
            "companions.Session": (_("Sessions"), "schedule"),
            "companions.Closing": (_("Ends of sessions"), "bedtime"),
            "companions.Message": (_("Messages"), "chat_bubble"),
            "companions.Bookmark": (_("Bookmarked messages"), "bookmarks"),
            "companions.Attachment": (_("Files sent in talks"), "attach_file"),
            "companions.Reply": (_("Answers and why"), "reply"),
            "companions.Prompt": (_("What was sent to models"), "receipt_long"),
            "voice.Recording": (_("Said aloud"), "mic"),
            "voice.Speech": (_("Sentences as sound"), "volume_up"),
            "voice.Spoken": (_("Read aloud"), "subtitles"),
        },
        _("Between talks"): {
            "companions.Life": (_("What they may do"), "nightlight"),
            "companions.Timer": (_("Reminders and timers"), "alarm"),
            "companions.Waking": (_("Wakings"), "wb_twilight"),
            "companions.Delivery": (_("Messages on their way"), "outgoing_mail"),
            "companions.InnerState": (_("How they felt"), "mood"),
            "companions.Job": (_("Imports and longer work"), "hourglass_empty"),
        },
        _("Memory"): {
            "memory.Memory": (_("Memories"), "bookmark"),
            "memory.DiaryEntry": (_("Diaries"), "menu_book"),
            "memory.Revision": (_("Self-concepts and profiles"), "history_edu"),
            "memory.Slot": (_("Facts always in mind"), "push_pin"),
            "memory.Block": (_("Notes always in mind"), "sticky_note_2"),
            "memory.Pursuit": (_("Goals and ideas"), "flag"),
            "memory.Thread": (_("What is open"), "pending"),
            "memory.Document": (_("Long texts"), "description"),
            "memory.Page": (_("Their pages"), "article"),
        },
        _("How memory came to be"): {
            "memory.Learning": (_("What was learnt when"), "school"),
            "memory.Consolidation": (_("Nights"), "dark_mode"),
            "memory.Change": (_("What nights changed"), "merge"),
            "memory.Recall": (pgettext("the table", "Recalls"), "search"),
            "memory.Recalled": (_("What they found"), "format_list_numbered"),
            "companions.ForgetProposal": (_("Proposals to forget"), "ink_eraser"),
            "memory.Retraction": (_("What was taken back"), "undo"),
            "memory.Forgotten": (_("What was forgotten"), "backspace"),
            "companions.JournalEntry": (_("Changes by branch"), "history"),
            "memory.Embedding": (_("Meanings as numbers"), "scatter_plot"),
            "memory.Space": (_("Embedding models in use"), "grid_view"),
        },
        _("Usage"): {
            "accounts.ModelCall": (_("Requests to models"), "data_usage"),
            "accounts.SoundCall": (_("Speech and hearing"), "graphic_eq"),
            "files.StoredFile": (_("Stored files"), "folder"),
        },
        _("Safety"): {
            "safety.AuditEntry": (_("What operators did"), "visibility"),
            "safety.Notice": (_("What people were told"), "info"),
            "safety.ContinuousUse": (_("Long use without a break"), "timelapse"),
            "safety.OperatorAccess": (_("Who can sign in as whom"), "key"),
            "auth.Group": (_("Groups of operators"), "group"),
        },
    }


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the sidebar's groups, with the tables and pages that the operator may see."""
    home = {"title": _("Today"), "icon": "today", "link": reverse("admin:index")}
    failed = count_failed(timezone.now() - RECENT_WINDOW)
    groups = [
        {"title": title, "separator": True, "items": _list_tables(models, request, failed)}
        for title, models in list_rooms().items()
    ]
    services = _list_tables({"providers.Provider": (_("Providers"), "neurology")}, request, failed)
    if request.user.has_perms(RIGHTS):
        services.insert(0, {"title": _("Which model?"), "icon": "psychology", "link": reverse("admin:mind")})
    if request.user.has_perm("accounts.view_soundcall"):
        sound = {"title": _("Speaking and hearing"), "icon": "hearing", "link": reverse("admin:sound")}
        services.append(sound)
    groups.append({"title": _("Services"), "separator": True, "items": services})
    return [{"items": [home]}, *(group for group in groups if group["items"])]


def _list_tables(
    tables: dict[str, tuple[str, str]], request: HttpRequest, failed: dict[str, int]
) -> list[dict[str, Any]]:
    """Return a sidebar entry for each table that the operator may see, with its number of failed rows as a badge."""
    options = {label: apps.get_model(label)._meta for label in tables}
    return [
        {
            "badge": str(failed[label]) if failed.get(label) else None,
            "badge_variant": "danger",
            "title": tables[label][0],
            "icon": tables[label][1],
            "link": reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist"),
        }
        for label, meta in options.items()
        if request.user.has_perm(f"{meta.app_label}.view_{meta.model_name}")
    ]

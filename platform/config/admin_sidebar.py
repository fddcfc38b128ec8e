"""What stands at the admin's side: the rooms and their tables, for whom may see them."""

from collections.abc import Mapping
from typing import Any

from django.apps import apps
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import gettext as _

from config.alerts import count_badges

Entry = dict[str, Any]


def logo(request: HttpRequest) -> str:
    return static("admin/kith.svg")


def style(request: HttpRequest) -> str:
    return static("admin/kith.css")


def navigation(request: HttpRequest) -> list[Entry]:
    """The groups that hold something this operator may see."""
    rooms = {
        _("People"): {
            "accounts.User": "person",
            "account.EmailAddress": "alternate_email",
            "accounts.Invitation": "mail",
            "accounts.Token": "key",
            "accounts.ModelCall": "data_usage",
            "accounts.SoundCall": "graphic_eq",
            "files.StoredFile": "folder",
        },
        _("Companions"): {
            "companions.Companion": "local_fire_department",
            "companions.Conversation": "forum",
            "companions.Session": "schedule",
            "companions.Closing": "bedtime",
            "companions.Message": "chat_bubble",
            "companions.Reply": "reply",
            "companions.Prompt": "receipt_long",
            "companions.Job": "hourglass_empty",
        },
        _("Lives"): {
            "companions.Life": "nightlight",
            "companions.Waking": "wb_twilight",
            "companions.Timer": "alarm",
            "companions.InnerState": "mood",
            "companions.Delivery": "outgoing_mail",
            "push.Subscription": "notifications",
        },
        _("Voice and face"): {
            "voice.Voice": "record_voice_over",
            "voice.Speech": "volume_up",
            "voice.Spoken": "subtitles",
            "voice.Recording": "mic",
            "companions.Portrait": "face",
            "companions.Picture": "image",
        },
        _("Memory"): {
            "memory.Memory": "bookmark",
            "memory.DiaryEntry": "menu_book",
            "memory.Revision": "history_edu",
            "memory.Slot": "push_pin",
            "memory.Block": "sticky_note_2",
            "memory.Pursuit": "flag",
            "memory.Document": "description",
            "memory.Page": "article",
            "memory.Learning": "school",
            "memory.Retraction": "undo",
            "memory.Consolidation": "dark_mode",
            "memory.Change": "merge",
            "memory.Recall": "search",
            "memory.Recalled": "format_list_numbered",
            "memory.Embedding": "scatter_plot",
            "memory.Space": "grid_view",
        },
        _("Safety"): {
            "safety.AuditEntry": "visibility",
            "safety.Notice": "info",
            "safety.ContinuousUse": "timelapse",
            "safety.OperatorAccess": "key",
            "auth.Group": "group",
        },
    }
    home = {"title": _("Today"), "icon": "today", "link": reverse("admin:index")}
    counted = count_badges()
    groups = [
        {"title": title, "separator": True, "items": _seen(models, request, counted)}
        for title, models in rooms.items()
    ]
    if request.user.has_perm("accounts.view_soundcall"):
        groups.append({"title": _("Services"), "separator": True, "items": [_sound()]})
    return [{"items": [home]}, *(group for group in groups if group["items"])]


def _sound() -> Entry:
    return {"title": _("Speaking and hearing"), "icon": "hearing", "link": reverse("admin:sound")}


def _seen(models: dict[str, str], request: HttpRequest, counted: Mapping[str, str]) -> list[Entry]:
    return [
        {
            "badge": counted.get(model._meta.label),
            "badge_variant": "danger",
            "title": str(model._meta.verbose_name_plural).capitalize(),
            "icon": icon,
            "link": reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"),
        }
        for model, icon in ((apps.get_model(label), icon) for label, icon in models.items())
        if request.user.has_perm(f"{model._meta.app_label}.view_{model._meta.model_name}")
    ]

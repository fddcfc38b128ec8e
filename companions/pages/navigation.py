"""The navigation of a companion's pages: its five places with their tabs. Each page is listed here exactly once."""

from dataclasses import dataclass
from functools import cache

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from text.strings import shorten

NAME_CHARACTERS = 20  # of the companion's name within a tab, which has little room


@dataclass(frozen=True, slots=True)
class Tab:
    """A page that its place links to, and the pages `below` that are reached from it, all by their URL names."""

    page: str
    label: Promise | str
    below: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """One of the five places: its short name for the narrow bar, its full name, and the page that it opens on."""

    slug: str
    word: Promise | str
    label: Promise | str
    opens: str
    tabs: tuple[Tab, ...]


def _list_revision_pages(name: str) -> tuple[str, ...]:
    return (f"{name}_edit", f"{name}_compare", f"{name}_restore")


# In a label, {name} stands for the companion's name.
PLACES = (
    Place(
        "talk",
        pgettext_lazy("a place of a companion", "Talk"),
        pgettext_lazy("a place of a companion", "Talk"),
        "talk",
        (
            Tab(
                "talk",
                pgettext_lazy("a place of a companion", "Talk"),
                (
                    *("bookmarks", "call", "message_edit", "message_delete", "recording_correct"),
                    *("session_end", "session_clear"),
                ),
            ),
        ),
    ),
    Place(
        "about",
        pgettext_lazy("a place of a companion", "About"),
        _("About {name}"),
        "about",
        (
            Tab("about", _("Who {name} is"), ("character_versions", "character_version", "version_delete")),
            Tab("self_concept", _("How {name} sees itself"), _list_revision_pages("self_concept")),
            Tab(
                "lore",
                _("Lorebook"),
                (
                    *("lore_try", "lorebook_add", "lorebook", "lorebook_settings", "lorebook_delete"),
                    *("lore_entry_add", "lore_entry", "lore_entry_delete"),
                ),
            ),
            Tab("inner_states", _("How {name} feels")),
            Tab("face", _("Face"), ("face_pictures",)),
            Tab("voice", _("Voice"), ("voice_reference",)),
        ),
    ),
    Place(
        "memory",
        pgettext_lazy("a place of a companion", "Memory"),
        pgettext_lazy("a place of a companion", "Memory"),
        "memories",
        (
            Tab("profile", _("About you"), _list_revision_pages("profile")),
            Tab(
                "memories",
                _("Facts"),
                (
                    *("memory", "memory_add", "memory_edit", "memory_private", "memory_delete"),
                    *("memories_delete", "nights", "always"),
                    *("slot", "slot_add", "slot_delete", "block", "block_add", "block_delete"),
                ),
            ),
            Tab("diary", _("Diary"), ("diary_entry", "diary_said", "diary_delete")),
            Tab("documents", _("Reading"), ("document_give", "document", "document_delete")),
            Tab("search", _("All messages")),
        ),
    ),
    Place(
        "together",
        pgettext_lazy("a place of a companion", "Together"),
        pgettext_lazy("a place of a companion", "Together"),
        "timers",
        (
            Tab("timers", _("Reminders"), ("timer_preview", "timer_add")),
            Tab("pursuits", _("Goals and ideas"), ("pursuit_add", "pursuit_change")),
            Tab("life", _("What {name} did")),
            Tab("life_settings", _("When {name} may write")),
        ),
    ),
    Place(
        "settings",
        pgettext_lazy("a place of a companion", "Settings"),
        pgettext_lazy("a place of a companion", "Settings"),
        "companion",
        (
            Tab("companion", pgettext_lazy("settings", "General"), ("companion_delete", "companion_publish")),
            Tab("mind", _("The model"), ("mind_values", "mind_preset_file", "comparison")),
            Tab("branches", _("Branches"), ("branch_compare", "branch_delete")),
            Tab("imports", _("Earlier talk"), ("import_undo",)),
            Tab("advanced", _("Advanced"), ("forgetting", "context")),
        ),
    ),
)


@cache
def find_place(page: str) -> tuple[Place, Tab] | None:
    """Return the place and the tab that the page with this URL name belongs to, or None if it belongs to none."""
    for place in PLACES:
        for tab in place.tabs:
            if page == tab.page or page in tab.below:
                return place, tab
    return None


@dataclass(frozen=True, slots=True)
class Way:
    """A link to a place or to a page in it; `current` is its aria-current: "page", "true" or ""."""

    slug: str
    page: str
    word: str
    label: str
    current: str


def list_places(page: str, name: str) -> list[Way]:
    """Return the links to the five places of the companion called `name`, as shown on `page`."""
    found = find_place(page)
    return [
        Way(
            place.slug,
            place.opens,
            str(place.word),
            _with_name(place.label, name),
            _mark(page == place.opens, bool(found and found[0] is place)),
        )
        for place in PLACES
    ]


def list_tabs(page: str, name: str) -> list[Way]:
    """Return the links to the tabs of the page's place, or [] if it has no place, or the place has only one tab."""
    found, short = find_place(page), shorten(name, NAME_CHARACTERS)
    if not found or len(found[0].tabs) == 1:
        return []
    return [
        Way(tab.page, tab.page, "", _with_name(tab.label, short), _mark(page == tab.page, found[1] is tab))
        for tab in found[0].tabs
    ]


def _with_name(label: Promise | str, name: str) -> str:
    return str(label).replace("{name}", name)


def _mark(is_page: bool, is_within: bool) -> str:
    return "page" if is_page else "true" if is_within else ""

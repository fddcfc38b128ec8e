"""Preview of an uploaded card: all that it holds, including hidden parts, before a companion is made of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from cards.reader import REMARKS
from companions.models import CardUpload
from companions.transfer.card_import import ASSETS_NOT_KEPT, PICTURE_NOT_KEPT, read_fields
from providers.tokens import estimate
from text.placeholders import Macros
from text.strings import one_line

ALWAYS_READ = (
    *("persona", "personality", "scenario"),
    *("system_prompt", "post_history_instructions", "depth_prompt"),
)
# What each text is, and what becomes of it.
TEXTS = (
    ("persona", gettext_lazy("Description"), gettext_lazy("Read before every answer.")),
    ("personality", gettext_lazy("Short personality"), gettext_lazy("Read before every answer.")),
    ("scenario", gettext_lazy("Scenario"), gettext_lazy("Read before every answer.")),
    (
        "example_dialogue",
        gettext_lazy("Example dialogue"),
        gettext_lazy("Read before every answer, as long as the talk leaves room for it."),
    ),
)
HIDDEN = (
    (
        "system_prompt",
        gettext_lazy("Instructions before the persona"),
        gettext_lazy("Read first in every prompt, below the rules of this Kith."),
    ),
    (
        "post_history_instructions",
        gettext_lazy("Instructions after the conversation"),
        gettext_lazy("Read last in every prompt, after what you say."),
    ),
    (
        "depth_prompt",
        gettext_lazy("Note within the conversation"),
        gettext_lazy("Read in every prompt, a few messages before the newest."),
    ),
)
# Other macros stay visible: each could expand to several texts, of which only one would be shown.
SHOWN_MACROS = frozenset({"char", "bot", "user", "original", "newline"})
NOT_KEPT = {
    PICTURE_NOT_KEPT: gettext_lazy("Its picture could not be kept. It gets a drawn face instead."),
    ASSETS_NOT_KEPT: gettext_lazy(
        "There is no room left for its other pictures and sounds. They are left out."
    ),
}


@dataclass(frozen=True, slots=True)
class ShownText:
    """One text of a card: what it is (`label`), how it will be used (`hint`), and its words with names filled in."""

    name: str
    label: str
    hint: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """One entry of the card's lorebook. `is_constant` if it is in every prompt.

    If there are `secondary_keys`, one of them must match as well, or must not match.
    """

    title: str
    keys: list[str]
    text: str
    is_constant: bool
    is_enabled: bool
    secondary_keys: list[str] = field(default_factory=list)


@dataclass(slots=True)
class CardPreview:
    """The content of a card as pages and the API show it."""

    name: str
    form: str
    version: str
    creator: str = ""
    character_version: str = ""
    notes: str = ""
    tags: list[str] = field(default_factory=list)
    greetings: list[str] = field(default_factory=list)
    texts: list[ShownText] = field(default_factory=list)
    hidden: list[ShownText] = field(default_factory=list)
    book: str = ""
    entries: list[ShownEntry] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    tokens: int = 0

    @property
    def constant_entries(self) -> list[ShownEntry]:
        return [entry for entry in self.entries if entry.is_constant and entry.is_enabled]

    @property
    def keyed_entries(self) -> list[ShownEntry]:
        return [entry for entry in self.entries if not (entry.is_constant and entry.is_enabled)]


def describe(upload: CardUpload) -> CardPreview:
    """Return the content of the card or lorebook, with the names of character and user filled in for their macros."""
    data: dict[str, Any] = upload.content["data"]
    name = one_line(data.get("nickname") or data.get("name") or "")
    macros = Macros(char=name, user=one_line(upload.user.name) or _("you"), original="…", only=SHOWN_MACROS)
    remarks = {**REMARKS, **NOT_KEPT}
    is_book = upload.form == CardUpload.Form.LOREBOOK
    book = data if is_book else data.get("character_book") or {}
    preview = CardPreview(
        name=one_line(data.get("name") or name),
        form=str(CardUpload.Form(upload.form).label),
        version=upload.version,
        book=str(book.get("name") or ""),
        entries=[_show_entry(entry, macros) for entry in book.get("entries", ())],
        remarks=[str(remarks[code]) for code in upload.remarks if code in remarks],
    )
    if is_book:
        return preview
    fields = read_fields(data)
    preview.creator, preview.character_version = data["creator"], data["character_version"]
    preview.notes, preview.tags = _choose_notes(data), data["tags"]
    preview.greetings = [macros.expand(text) for text in (data["first_mes"], *data["alternate_greetings"])]
    preview.texts, preview.hidden = _show_texts(TEXTS, fields, macros), _show_texts(HIDDEN, fields, macros)
    preview.tokens = sum(estimate(fields.get(key, "")) for key in ALWAYS_READ)
    preview.tokens += sum(estimate(entry.text) for entry in preview.constant_entries)
    return preview


def _show_texts(
    rows: Sequence[tuple[str, Any, Any]], fields: Mapping[str, Any], macros: Macros
) -> list[ShownText]:
    return [
        ShownText(key, str(label), str(hint), macros.expand(text))
        for key, label, hint in rows
        if (text := fields.get(key, "").strip())
    ]


def _show_entry(entry: Mapping[str, Any], macros: Macros) -> ShownEntry:
    return ShownEntry(
        title=str(entry.get("name") or entry.get("comment") or ""),
        keys=[str(key) for key in entry["keys"]],
        text=macros.expand(entry["content"]),
        is_constant=bool(entry.get("constant")),
        is_enabled=bool(entry["enabled"]),
        secondary_keys=[str(key) for key in entry.get("secondary_keys") or ()],
    )


def _choose_notes(data: dict[str, Any]) -> str:
    """Return the creator's notes, in the reader's language if the card has them in it."""
    translated = data.get("creator_notes_multilingual")
    language = (get_language() or "en").split("-")[0]
    notes = translated.get(language) if isinstance(translated, dict) else None
    return notes if isinstance(notes, str) and notes.strip() else str(data["creator_notes"])

"""The exact texts of a companion that publishing makes public, and what its person should know before."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from allauth.account.models import EmailAddress
from django.utils.translation import gettext as _

from accounts.models import User
from cards.lorebooks import WORLD_INFO_EXTENSIONS
from cards.schema import CARD, normalise
from cards.values import CardFormatError
from companions.errors import GalleryError
from companions.models import Card, Companion, GalleryCharacter, GalleryVersion
from companions.transfer.card_export import compose_card
from companions.transfer.card_import import FIELDS

MAX_BYTES = 1_000_000  # size of the card as JSON
TEXTS = tuple(key for key in FIELDS.values() if key != "alternate_greetings")
KEPT = ("name", *FIELDS.values(), "creator", "creator_notes", "character_version")
# The fields of a lorebook and its entries that Kith uses and shows: nothing is published that nobody could look at.
BOOK = ("name", "scan_depth", "token_budget", "recursive_scanning")
BOOK_RULES = ("max_recursion_steps", "min_activations", "min_activations_depth_max")
ENTRY = (
    *("keys", "secondary_keys", "content", "enabled", "insertion_order", "case_sensitive", "use_regex"),
    *("constant", "name", "priority", "id", "selective", "position"),
)
RULES = ({*WORLD_INFO_EXTENSIONS.values()} - {"outlet_name", "automation_id"}) | {"character_filter"}
CONTACT = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+|(?<![\w.])\+?\d(?:[ ()/.-]?\d){7,}(?!\w)")
NO_CHARACTER = "no_character"
# The fields that say who the character is: a greeting alone could be anyone's.
WHO = ("description", "personality", "scenario", "mes_example", "system_prompt", "post_history_instructions")
MIN_NAME_CHARACTERS = 2  # a shorter name would be found in every text
# The licences under which a character may be published again, by the licence that it came with.
GIVEN_ON: Mapping[str, Set[str]] = {
    GalleryVersion.Licence.CC0: set(GalleryVersion.Licence),
    GalleryVersion.Licence.CC_BY: {GalleryVersion.Licence.CC_BY, GalleryVersion.Licence.CC_BY_SA},
    GalleryVersion.Licence.CC_BY_SA: {GalleryVersion.Licence.CC_BY_SA},
    GalleryVersion.Licence.HERE: set(),
}


@dataclass(frozen=True, slots=True)
class Publication:
    """The V3 card that is published, and warnings that its person should read before."""

    content: dict[str, Any]
    warnings: list[str] = field(default_factory=list)
    has_name: bool = False  # the texts contain the person's own name, or did before it was replaced

    @property
    def digest(self) -> str:
        """The card's SHA-256, to check that what is published is still what the person looked at."""
        return sha256(json.dumps(self.content, sort_keys=True).encode()).hexdigest()


def compose_publication(companion: Companion, *, keeps_name: bool = False) -> Publication:
    """Return what publishing the companion would make public. Raise CardError or GalleryError.

    The person's own name in its texts becomes {{user}}, the name of whoever talks with it, unless `keeps_name`.
    """
    data = compose_card(companion)["data"]
    chosen = {key: data[key] for key in KEPT}
    if isinstance(note := data["extensions"].get("depth_prompt"), dict):
        chosen["extensions"] = {"depth_prompt": {key: note.get(key) for key in ("prompt", "depth", "role")}}
    if book := data.get("character_book"):
        chosen["character_book"] = _choose_of_book(book)
    if not (companion.depth_prompt.strip() or any(data[key].strip() for key in WHO)):
        detail = _("Nobody has written yet who %(name)s is, so there is nothing for others to start from.")
        raise GalleryError(NO_CHARACTER, detail % {"name": companion.name})
    name = companion.user.name.strip()
    pattern = _compile_name(name)
    has_name = bool(pattern and any(pattern.search(text) for _label, text in _list_texts(chosen)))
    if pattern and not keeps_name:
        chosen = _replace(chosen, pattern)
    if chosen["creator"].strip() == name:
        chosen["creator"] = ""  # the name that the publisher chooses takes its place
    try:
        content = normalise({"spec": CARD, "spec_version": "3.0", "data": chosen})[0]
    except CardFormatError:
        raise GalleryError("too_large", _("This is too much for one card.")) from None
    if len(json.dumps(content, ensure_ascii=False).encode()) > MAX_BYTES:
        detail = _(
            "Its texts and lorebooks take up more than %(most)s MB, which is too much for the gallery."
        )
        raise GalleryError("too_large", detail % {"most": MAX_BYTES // 1_000_000})
    if holds_own_address(companion.user, json.dumps(content, ensure_ascii=False)):
        detail = _("Your e-mail address appears in its texts. Remove it first.")
        raise GalleryError("own_address", detail)
    return Publication(content, _list_warnings(content["data"], _compile_like(name)), has_name)


def require_right_to_give_on(companion: Companion, licence: str) -> None:
    """Raise GalleryError if the companion came from the gallery under a licence that does not allow this one.

    A user may publish what came from a character of their own under any licence.
    """
    card = Card.objects.filter(companion=companion).first()
    origin = read_origin(card.content) if card else {}
    came_under = str(origin.get("licence"))
    own = GalleryCharacter.objects.owned_by(companion.user).values_list("pk", flat=True)
    if came_under not in GIVEN_ON or str(origin.get("character")) in map(str, own):
        return
    allowed = GIVEN_ON[came_under]
    if not allowed:
        detail = _("It came from the gallery with all rights reserved, so you cannot publish it again.")
        raise GalleryError("licence_of_origin", detail, "licence")
    if licence not in allowed:
        detail = _(
            "It came from the gallery under %(licence)s, and can only be published again on those terms."
        )
        raise GalleryError("licence_of_origin", detail % {"licence": came_under}, "licence")


def read_origin(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the gallery origin that the card names (character, version, licence, published_as), or an empty dict."""
    kith = content.get("data", {}).get("extensions", {}).get("kith")
    origin = kith.get("gallery") if isinstance(kith, dict) else None
    return origin if isinstance(origin, dict) else {}


# -- the published fields ---------------------------------------------------------------------------


def _choose_of_book(book: Mapping[str, Any]) -> dict[str, Any]:
    chosen: dict[str, Any] = {key: book.get(key) for key in BOOK}
    extensions = book.get("extensions") or {}
    chosen["extensions"] = {key: extensions[key] for key in BOOK_RULES if key in extensions}
    chosen["entries"] = [_choose_of_entry(entry) for entry in book["entries"]]
    return chosen


def _choose_of_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    chosen: dict[str, Any] = {key: entry[key] for key in ENTRY if key in entry}
    chosen["name"] = entry.get("name") or entry.get("comment") or ""
    extensions = entry.get("extensions") or {}
    chosen["extensions"] = {key: extensions[key] for key in sorted(RULES & extensions.keys())}
    return chosen


# -- the person's own name and addresses ------------------------------------------------------------


def _compile_name(name: str) -> re.Pattern[str] | None:
    """Return a pattern that finds the name as a whole word; None if it has fewer than MIN_NAME_CHARACTERS."""
    if len(name) < MIN_NAME_CHARACTERS:
        return None
    before, after = (r"(?<!\w)" if name[0].isascii() else ""), (r"(?!\w)" if name[-1].isascii() else "")
    return re.compile(before + re.escape(name) + after)


def _compile_like(name: str) -> re.Pattern[str] | None:
    """Return a case-insensitive pattern of the name and each of its words, used for warnings only; or None."""
    words = filter(None, map(_compile_name, {name, *name.split()}))
    like = "|".join(word.pattern for word in words)
    return re.compile(like, re.IGNORECASE) if like else None


def _replace(chosen: dict[str, Any], pattern: re.Pattern[str]) -> dict[str, Any]:
    """Return the card's data with the pattern replaced by {{user}} in its texts and in those of its lore entries.

    The names of the card, its lorebook and the entries stay as they are, and so do the entries' keys.
    """

    def put(text: str) -> str:
        return pattern.sub("{{user}}", text)

    replaced = {**chosen, **{key: put(chosen[key]) for key in (*TEXTS, "creator_notes")}}
    replaced["alternate_greetings"] = [put(text) for text in chosen["alternate_greetings"]]
    if extensions := chosen.get("extensions"):
        note = extensions["depth_prompt"]
        replaced["extensions"] = {"depth_prompt": {**note, "prompt": put(note["prompt"] or "")}}
    if book := chosen.get("character_book"):
        entries = [{**entry, "content": put(entry["content"])} for entry in book["entries"]]
        replaced["character_book"] = {**book, "entries": entries}
    return replaced


def holds_own_address(user: User, text: str) -> bool:
    """Return whether the text contains one of the person's e-mail addresses."""
    addresses = EmailAddress.objects.filter(user=user).values_list("email", flat=True)
    return any(address.casefold() in text.casefold() for address in (user.email, *addresses))


def _list_texts(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each published text as a pair: what it is called within a sentence, and the text."""
    labels: dict[str, Callable[[], str]] = {
        "name": lambda: _("its name"),
        "nickname": lambda: _("its nickname"),
        "description": lambda: _("the persona"),
        "personality": lambda: _("the personality"),
        "scenario": lambda: _("the scenario"),
        "mes_example": lambda: _("the example dialogue"),
        "system_prompt": lambda: _("the instructions before the persona"),
        "post_history_instructions": lambda: _("the instructions after the conversation"),
        "creator": lambda: _("its creator’s name"),
        "creator_notes": lambda: _("what its creator says about it"),
        "character_version": lambda: _("its version"),
    }
    for key, label in labels.items():
        yield label(), data[key]
    for text in (data["first_mes"], *data["alternate_greetings"]):
        yield _("a greeting"), text
    note = (data.get("extensions") or {}).get("depth_prompt") or {}
    yield _("the note within the conversation"), str(note.get("prompt") or "")
    book = data.get("character_book") or {"entries": []}
    yield _("the lorebook"), str(book.get("name") or "")
    for entry in book["entries"]:
        said = (entry["name"], entry["content"], *entry["keys"], *(entry.get("secondary_keys") or ()))
        yield _("the lorebook"), "\n".join(map(str, said))


def _list_warnings(data: Mapping[str, Any], pattern: re.Pattern[str] | None) -> list[str]:
    """Return warnings, a sentence each, about texts that may be private; `pattern` finds the person's name."""
    warnings, texts = [], list(_list_texts(data))
    if pattern and (places := _list_places(texts, pattern)):
        warnings.append(_("Your name appears in: %(places)s.") % {"places": places})
    if places := _list_places(texts, CONTACT):
        warnings.append(
            _("There may be an address or a telephone number in: %(places)s.") % {"places": places}
        )
    if data["mes_example"].strip():
        warnings.append(
            _(
                "The example dialogue will be published too. Check whether anything in it was really said between the"
                " two of you."
            )
        )
    return warnings


def _list_places(texts: list[tuple[str, str]], pattern: re.Pattern[str]) -> str:
    return ", ".join(dict.fromkeys(label for label, text in texts if pattern.search(text)))

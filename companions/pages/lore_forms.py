"""The forms of lorebooks and their entries. Only changed fields of an entry are written; all else stays as imported."""

import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from cards.lorebooks import normalise_entry
from companions.errors import LoreError
from companions.lore.editing import MAX_CONTENT_CHARACTERS, check_entry, check_patterns
from companions.lore.rules.books import SILLY_TAVERN_MARKS, read_integer
from companions.lore.rules.decorators import ROLES as SPEAKERS
from companions.lore.rules.keys import UNESCAPED_SLASH, is_pattern_literal
from companions.models import Lorebook, LoreEntry

# A key, or a pattern between slashes, which may contain commas.
KEY = re.compile(r"\s*(/(?:\\.|[^/\\\n])+/[dgimsuvy]*(?=\s*(?:[,，\n]|$))|[^,，\n]*)(?:[,，\n]|$)")
LOGICS: list[tuple[str, Any]] = [
    ("0", gettext_lazy("at least one must appear too")),
    ("3", gettext_lazy("all must appear too")),
    ("2", gettext_lazy("none may appear")),
    ("1", gettext_lazy("at least one must be missing")),
    ("off", gettext_lazy("they are ignored")),
]
AS_IT_IS = "as_it_is"
PLACES: dict[str, tuple[int, str | Promise]] = {  # each with SillyTavern's number
    "before_desc": (0, gettext_lazy("before the description")),
    "after_desc": (1, gettext_lazy("after the description")),
    "before_examples": (5, gettext_lazy("before the example dialogue")),
    "after_examples": (6, gettext_lazy("after the example dialogue")),
    "depth": (4, gettext_lazy("in the talk, at a certain depth")),
}
ROLES: list[tuple[str, Any]] = [
    ("0", gettext_lazy("the system")),
    ("1", gettext_lazy("you")),
    ("2", gettext_lazy("the companion")),
]
COMMON = (
    *("name", "keys", "secondary_keys", "logic", "content", "is_constant", "is_enabled", "order", "position"),
    *("depth", "role"),
)
FURTHER = ("is_case_sensitive", "is_whole_word", "probability", "group", "sticky", "cooldown", "delay")
# By field: its key among the entry's extensions, and its default.
NUMBERS = {"depth": ("depth", 4), "sticky": ("sticky", 0), "cooldown": ("cooldown", 0), "delay": ("delay", 0)}
PLAIN = {"name": "name", "content": "content", "is_constant": "constant", "is_enabled": "enabled"}
NUMBER = {"inputmode": "numeric"}


class LorebookForm(forms.ModelForm):  # type: ignore[type-arg]
    """The settings of a lorebook."""

    class Meta:
        model = Lorebook
        fields = ("name", "is_enabled", "scan_depth", "token_budget", "is_recursive")
        labels = {
            "is_enabled": gettext_lazy("In use"),
            "scan_depth": gettext_lazy("How many messages are searched"),
            "token_budget": gettext_lazy("How many word pieces it may take at most"),
            "is_recursive": gettext_lazy("Its entries can trigger each other"),
        }
        help_texts = {
            "scan_depth": gettext_lazy("Counted from the newest one. If this is empty, four."),
            "is_recursive": gettext_lazy("Keys are then also looked for in entries that have been added."),
        }


class NewLorebookForm(forms.Form):
    """A new lorebook, for one companion or for all of the person's."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    is_for_all = forms.BooleanField(label=gettext_lazy("For all my companions"), required=False)


def _number(label: Any, most: int, hint: Any = "", least: int = 0) -> forms.IntegerField:
    widget = forms.NumberInput(attrs=NUMBER)
    return forms.IntegerField(
        label=label, min_value=least, max_value=most, required=False, help_text=hint, widget=widget
    )


class LoreEntryForm(forms.Form):
    """A lore entry: its keys, its content, its place in the prompt, and further rules."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=200,
        required=False,
        help_text=gettext_lazy("Only for you; the companion does not read it."),
    )
    keys = forms.CharField(
        label=gettext_lazy("Keys that trigger it"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
        help_text=gettext_lazy(
            "Words separated by commas. The entry is read when one of them is said. Put a pattern (regular"
            " expression) between slashes: /drag(on|ons)/i"
        ),
    )
    secondary_keys = forms.CharField(
        label=gettext_lazy("Secondary keys"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 1, "spellcheck": "false"}),
    )
    logic = forms.ChoiceField(label=gettext_lazy("How the secondary keys count"), choices=LOGICS)
    content = forms.CharField(
        label=gettext_lazy("What is read"),
        max_length=MAX_CONTENT_CHARACTERS,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 7}),
        help_text=gettext_lazy("Lines at the top that begin with @@ are rules, which override those here."),
    )
    is_constant = forms.BooleanField(label=gettext_lazy("Always read, whatever is said"), required=False)
    is_enabled = forms.BooleanField(label=gettext_lazy("In use"), required=False)
    order = _number(
        gettext_lazy("Order"), 1_000_000, gettext_lazy("Entries with a higher number come later."), -1_000_000
    )
    position = forms.ChoiceField(label=gettext_lazy("Where it goes"))
    depth = _number(
        gettext_lazy("Depth"), 9999, gettext_lazy("For “in the talk”: how many messages come after it.")
    )
    role = forms.ChoiceField(label=gettext_lazy("Said by"), choices=ROLES)
    is_case_sensitive = forms.BooleanField(
        label=gettext_lazy("Match capital and small letters"), required=False
    )
    is_whole_word = forms.BooleanField(label=gettext_lazy("Whole words only"), required=False)
    probability = _number(gettext_lazy("How many times out of 100 it is read"), 100)
    group = forms.CharField(
        label=gettext_lazy("Group"),
        max_length=200,
        required=False,
        help_text=gettext_lazy("Only one entry of a group is read at a time."),
    )
    sticky = _number(gettext_lazy("How many more messages it stays for"), 10_000)
    cooldown = _number(gettext_lazy("How many messages it then rests for"), 10_000)
    delay = _number(gettext_lazy("How many messages the talk must have first"), 10_000)

    def __init__(self, entry: LoreEntry | None, sent: QueryDict | None = None) -> None:
        self.before = entry.data if entry else normalise_entry({})
        self.is_new = entry is None
        super().__init__(sent, initial=read_initial(self.before))
        choices: list[tuple[str, Any]] = [(name, label) for name, (_number, label) in PLACES.items()]
        if self.initial["position"] == AS_IT_IS:
            choices.append((AS_IT_IS, gettext_lazy("unchanged")))
        positions: Any = self.fields["position"]
        positions.choices = choices

    @property
    def common(self) -> list[forms.BoundField]:
        return [self[name] for name in COMMON]

    @property
    def further(self) -> list[forms.BoundField]:
        return [self[name] for name in FURTHER]

    @property
    def has_further(self) -> bool:
        """Whether one of the further rules differs from its default, or has an error."""
        usual = {"probability": 100}
        return any(
            self.initial[name] not in ("", False, usual.get(name, 0)) or name in self.errors
            for name in FURTHER
        )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = self.cleaned_data
        for field in ("keys", "secondary_keys"):
            cleaned[field] = split_keys(cleaned.get(field, ""))
            try:
                if field in self.changed_data:
                    check_patterns(cleaned[field])
            except LoreError as error:
                self.add_error(field, str(error.detail))
        if self.errors:
            return cleaned
        if not (cleaned["keys"] or cleaned["is_constant"] or cleaned["content"].lstrip().startswith("@@")):
            self.add_error("keys", _("Add a key, or let it always be read; otherwise it never will be."))
            return cleaned
        try:
            check_entry(self.compose())
        except LoreError as error:
            self.add_error(error.field, str(error.detail))
        return cleaned

    def compose(self) -> dict[str, Any]:
        """Return the entry with the changed fields, in the form of a V3 card."""
        changed = set(self.fields if self.is_new else self.changed_data)
        cleaned, extensions = self.cleaned_data, dict(self.before.get("extensions") or {})
        data = {**self.before, **{PLAIN[name]: cleaned[name] for name in changed & PLAIN.keys()}}
        if changed & {"keys", "secondary_keys", "logic", "is_constant", "is_case_sensitive"}:
            data |= {"keys": cleaned["keys"], "secondary_keys": cleaned["secondary_keys"]}
            data |= {"use_regex": is_silly_tavern(self.before) and data.get("use_regex") is True}
            data["selective"] = bool(cleaned["secondary_keys"]) and cleaned["logic"] != "off"
            if cleaned["logic"] != "off" and ("logic" in changed or data["selective"]):
                extensions["selectiveLogic"] = int(cleaned["logic"])
        if "order" in changed:
            data["insertion_order"] = 100 if cleaned["order"] is None else cleaned["order"]
        if "position" in changed and cleaned["position"] != AS_IT_IS:
            extensions["position"], _label = PLACES[cleaned["position"]]
            data["position"] = "before_char" if cleaned["position"] == "before_desc" else "after_char"
        if "role" in changed:
            extensions["role"] = int(cleaned["role"])
        for name, (key, usual) in NUMBERS.items():
            if name in changed:
                extensions[key] = usual if cleaned[name] is None else cleaned[name]
        if "is_case_sensitive" in changed:
            data["case_sensitive"] = extensions["case_sensitive"] = cleaned["is_case_sensitive"]
        if "is_whole_word" in changed:
            extensions["match_whole_words"] = cleaned["is_whole_word"]
        if "probability" in changed:
            chance = 100 if cleaned["probability"] is None else cleaned["probability"]
            extensions |= {"probability": chance, "useProbability": True}
        if "group" in changed:
            extensions["group"] = cleaned["group"]
        return {**data, "extensions": extensions}


def read_initial(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the form's initial values for an entry in the form of a V3 card."""
    extensions: Mapping[str, Any] = data.get("extensions") or {}
    case = extensions.get("case_sensitive")
    logic = str(extensions.get("selectiveLogic") or 0)
    secondary = data.get("secondary_keys") or []
    is_certain = extensions.get("useProbability") is False
    return {
        "name": str(data.get("name") or data.get("comment") or "")[:200],
        "keys": ", ".join(read_keys(data)),
        "secondary_keys": ", ".join(secondary),
        "logic": "off" if secondary and not data.get("selective") else logic if logic in "0123" else "0",
        "content": data.get("content") or "",
        "is_constant": data.get("constant") is True,
        "is_enabled": data.get("enabled", True) is not False,
        "order": read_integer(data.get("insertion_order"), 100),
        "position": _read_position(data, extensions),
        "role": _read_role(extensions.get("role")),
        "is_case_sensitive": (data.get("case_sensitive") if case is None else case) is True,
        "is_whole_word": extensions.get("match_whole_words") is True,
        "probability": 100 if is_certain else read_integer(extensions.get("probability"), 100),
        "group": extensions["group"] if isinstance(extensions.get("group"), str) else "",
        **{name: read_integer(extensions.get(key), usual) for name, (key, usual) in NUMBERS.items()},
    }


def read_keys(data: Mapping[str, Any]) -> list[str]:
    """Return the keys; if V3's `use_regex` makes a pattern of the first one, only that, between slashes."""
    keys = [str(key) for key in data.get("keys") or ()]
    if data.get("use_regex") is not True or is_silly_tavern(data):
        return keys
    flags = "" if data.get("case_sensitive") is True else "i"
    patterns = [key if is_pattern_literal(key) else f"/{_escape_slashes(key)}/{flags}" for key in keys]
    return patterns[:1]


def _escape_slashes(pattern: str) -> str:
    return UNESCAPED_SLASH.sub(lambda found: found[0][:-1] + r"\/", pattern)


def is_silly_tavern(data: Mapping[str, Any]) -> bool:
    """Return whether SillyTavern wrote the entry; its `use_regex` has no meaning then."""
    return bool(SILLY_TAVERN_MARKS & (data.get("extensions") or {}).keys())


def split_keys(text: str) -> list[str]:
    """Return the keys, separated by commas or line breaks, without duplicates."""
    return list(dict.fromkeys(key for found in KEY.finditer(text) if (key := found[1].strip())))


def _read_position(data: Mapping[str, Any], extensions: Mapping[str, Any]) -> str:
    number = extensions.get("position")
    if isinstance(number, int) and not isinstance(number, bool) and number >= 0:
        return next((name for name, (known, _label) in PLACES.items() if known == number), AS_IT_IS)
    return "before_desc" if data.get("position") == "before_char" else "after_desc"


def _read_role(role: Any) -> str:
    number = SPEAKERS.index(role) if role in SPEAKERS else role
    return str(number) if number in (1, 2) else "0"

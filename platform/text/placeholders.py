"""Macros of character cards, such as `{{char}}`, `{{user}}`, `{{random:a,b}}` and the older `<BOT>`. Pure.

The macros of the card specification are expanded, and also `{{time}}`, `{{date}}`, `{{newline}}`, `{{trim}}` and
`{{original}}`; any other macro is left as written. The result of a macro is not expanded again.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from random import Random

TOKEN = re.compile(r"(\{\{|\}\}|<(?:bot|char|user)>)", re.IGNORECASE)
MACRO = re.compile(r"\s*(//|[a-z_]+)\s*(::?)?(.*)", re.IGNORECASE | re.DOTALL)
DICE = re.compile(r"\s*(?:(\d{0,2})d)?(\d{1,6})\s*", re.IGNORECASE)
COMMA = re.compile(r"(?<!\\),")
MAX_DEPTH, MAX_MACROS = 20, 1_000  # per text; macros beyond these are left as written
CUT = "\0"  # marks the place of a `{{trim}}`; stored text never contains NUL


@dataclass(frozen=True, slots=True, kw_only=True)
class Macros:
    """The values for the macros of a card.

    `seed` determines the results of `{{random}}` and `{{roll}}`, and `pick_seed` those of `{{pick}}`. `now` is in the
    person's time zone; without it `{{time}}` and `{{date}}` are left as written. `original` is the text that a card's
    instructions replace. If `only` is given, macros with other names are left as written.
    """

    char: str
    user: str
    seed: int = 0
    pick_seed: int = 0
    now: datetime | None = None
    original: str = ""
    only: frozenset[str] | None = None

    def expand(self, text: str) -> str:
        """Return the text with its macros expanded, innermost first."""
        levels: list[list[str]] = [[]]
        too_deep, left = 0, MAX_MACROS
        for place, part in enumerate(TOKEN.split(text)):
            if part == "{{" and len(levels) > MAX_DEPTH:
                too_deep += 1
                levels[-1].append(part)
            elif part == "{{":
                levels.append([])
            elif part == "}}" and too_deep:
                too_deep -= 1
                levels[-1].append(part)
            elif part == "}}" and len(levels) > 1:
                inner = "".join(levels.pop())
                given = self._evaluate(inner, place) if left > 0 else None
                left -= given is not None
                levels[-1].append(given if given is not None else "{{" + inner + "}}")
            elif place % 2 and part != "}}" and left > 0:
                left -= 1
                levels[-1].append(self.user if part[1:-1].lower() == "user" else self.char)
            else:
                levels[-1].append(part)
        expanded = "{{".join("".join(level) for level in levels)
        if CUT not in expanded:
            return expanded
        first, *rest = expanded.split(CUT)
        return first.rstrip() + "".join(part.strip() for part in rest[:-1]) + rest[-1].lstrip()

    def _evaluate(self, macro: str, place: int) -> str | None:
        """Return the macro's replacement, or None if it is not one that is expanded."""
        if not (parts := MACRO.fullmatch(macro)):
            return None
        name, colon, rest = parts[1].lower(), parts[2], parts[3]
        if self.only is not None and name not in self.only:
            return None
        if name == "//":
            return ""
        if not colon:
            return self._get_plain(name) if not rest.strip() else None
        if name in {"hidden_key", "comment"}:
            return ""
        if name == "reverse":
            return rest[::-1]
        if name == "roll":
            dice = DICE.fullmatch(rest)
            return str(self._roll(int(dice[1] or 1), int(dice[2]), place)) if dice else None
        if name in {"random", "pick"}:
            seed = self.pick_seed if name == "pick" else self.seed
            texts: list[str] = rest.split("::") if colon == "::" else COMMA.split(rest)
            chosen = Random(f"{seed} {place} {rest}").choice(texts)  # noqa: S311 (nothing secret)
            return chosen.replace("\\,", ",").strip()
        return None

    def _get_plain(self, name: str) -> str | None:
        """Return the replacement of a macro that is only a name, or None if there is no such macro."""
        match name:
            case "char" | "bot":
                return self.char
            case "user":
                return self.user
            case "original":
                return self.original
            case "newline":
                return "\n"
            case "trim":
                return CUT
            case "time" if self.now:
                return f"{self.now:%H:%M}"
            case "date" if self.now:
                return f"{self.now:%d %B %Y}"
        return None

    def _roll(self, count: int, sides: int, place: int) -> int:
        chance = Random(f"{self.seed} {place}")  # noqa: S311 (nothing secret)
        return sum(chance.randint(1, max(sides, 1)) for _ in range(count))

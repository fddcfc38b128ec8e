"""Rules for texts that are data: files of regular expressions by name, one per language."""

import tomllib
import unicodedata
from functools import cache
from pathlib import Path

import regex

INVISIBLE = regex.compile(r"[\p{Cf}\p{Cc}--[\n\t\u200d]]", flags=regex.VERSION1)
STRAIGHT = str.maketrans({"’": "'", "‘": "'", "`": "'", "´": "'", "“": '"', "”": '"'})


def find_rule(folder: Path, text: str) -> str:
    """Return the name of the first rule in the folder's files, of any language, that the text matches, or ""."""
    plain = normalise(text)
    return next((name for name, pattern in _load_rules(folder) if pattern.search(plain)), "")


def normalise(text: str) -> str:
    """Return the text as rules expect it: NFKC, lower case, without invisible characters and repeated spaces."""
    whole = text.encode("utf-8", "replace").decode()  # replaces lone surrogates
    visible = INVISIBLE.sub("", unicodedata.normalize("NFKC", whole).translate(STRAIGHT))
    return regex.sub(r"[^\S\n]+", " ", visible).strip().lower()


@cache
def _load_rules(folder: Path) -> list[tuple[str, regex.Pattern[str]]]:
    """Return the rules of all languages as (name, pattern for normalised text)."""
    return [
        (name, regex.compile("|".join(patterns)))
        for path in sorted(folder.glob("*.toml"))
        for name, patterns in tomllib.loads(path.read_text(encoding="utf-8")).items()
    ]

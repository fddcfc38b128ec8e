"""What models write in place of an answer, though in its form: a refusal of their own, or the request's words. Pure."""

from memory.language import pattern_of
from text.strings import folded, squeeze

MAX_REFUSAL_CHARACTERS = 200  # a longer text that begins like a refusal may say something


def is_boilerplate(text: str, rules: str) -> bool:
    """Return whether the text is a refusal, or stands word for word in the `rules` that the model was given."""
    return is_refusal(text) or fold(text) in fold(rules)


def is_refusal(text: str) -> bool:
    """Return whether the text is a model's own refusal, which no companion says of its own accord."""
    return len(text) <= MAX_REFUSAL_CHARACTERS and bool(pattern_of("refuses").match(folded(text)))


def fold(text: str) -> str:
    """Return the text for a search of copies: folded, with single blanks, and without a full stop at the end."""
    return folded(squeeze(text)).rstrip(" .!。！")

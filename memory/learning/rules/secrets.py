"""Secrets: passwords, keys, codes and the numbers of cards and accounts, which are never kept. Pure.

A text may be written to make these patterns slow. So each of them looks ahead only within a bound, or begins only where
a run of the characters that it matches begins: no text takes quadratic time.
"""

import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator

import regex

from memory.language import pattern_of

Span = tuple[int, int]

MIN_CHARACTERS = 4  # a shorter secret would be found in too many texts
MARKS = ".,;:!?。，；：！？\"'“”‘’「」()（） "

NAMES, LINK = pattern_of("secret_names").pattern, pattern_of("secret_link").pattern
STATED = regex.compile(
    rf"(?i)\b(?:pass(?:word|phrase|code|wort)|kennwort|pwd)\s*+(?:is|=|:)\s*+(?!{pattern_of('no_secret').pattern}|[.…])"
    r"(\"[^\"]{1,200}\"|'[^']{1,200}'|“[^”]{1,200}”|\S+)"
)
WITH_DIGIT = regex.compile(rf"(?i)\b(?:{NAMES})\b{LINK}[\"'“‘「]?((?=[^\d\s]{{0,200}}+\d)[^\s\"'”’」]{{3,}})")
QUOTED = regex.compile(rf"(?i)\b(?:{NAMES})\b{LINK}[\"“‘「]([^\"”’」]{{3,200}})[\"”’」]")
OTHER_LANGUAGES = pattern_of("secret")
SHAPED = regex.compile(
    r"\b(?:sk|pk|rk)[-_](?:live[-_]|test[-_]|proj-|ant-)?[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}"
    r"|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abprs]-[\w-]{10,}|\bA[KS]IA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}"
    r"|\bhf_[A-Za-z0-9]{20,}|(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,40}-----)?"
    r"|\b\w+://[^\s/:@]+:[^\s/@]+@\S+|\b[0-9a-fA-F]{40,}\b"
)
KEY = r"[A-Za-z0-9_+/-]"
LONG = regex.compile(
    rf"(?<![\w/.:=&?+-])(?={KEY}*\d)(?={KEY}*[a-z])(?={KEY}*[A-Z]){KEY}{{24,}}={{0,2}}(?![\w/.])"
)
CARD = regex.compile(
    r"(?<![\d+.,-])(?:\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}|3\d{3}([ -])\d{6}\2\d{5})(?![\d.,-]*\d)"
)
IBAN = regex.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])")
CHINESE_ID = regex.compile(r"(?<!\d)[1-9]\d{5}(?:19|20)\d{9}[\dXx](?!\d)")


def holds_secret(text: str, told: Collection[str] = ()) -> bool:
    """Return whether something in the text looks like a password, a code, a key, or the number of a card or an account.

    `told` are known secrets (`secrets_in`), which count wherever they stand.
    """
    return bool(_spans(unicodedata.normalize("NFKC", text), told))


def secrets_in(texts: Iterable[str]) -> frozenset[str]:
    """Return what looks like a secret in the texts, without punctuation around it, of at least four characters."""
    plain = (unicodedata.normalize("NFKC", text) for text in texts)
    found = (text[start:end].strip(MARKS) for text in plain for start, end in _found(text))
    return frozenset(secret for secret in found if len(secret) >= MIN_CHARACTERS)


def redacted(text: str, told: Collection[str] = ()) -> str:
    """Return the text with "…" instead of what looks like a secret or is one of `told`; unchanged if nothing does."""
    plain = unicodedata.normalize("NFKC", text)
    spans = _spans(plain, told)
    starts, ends = [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(plain)]
    return "…".join(plain[start:end] for start, end in zip(starts, ends, strict=True)) if spans else text


def _spans(text: str, told: Collection[str]) -> list[Span]:
    """Return where secrets stand, in order, with overlapping spans merged."""
    joined: list[Span] = []
    for start, end in sorted([*_found(text), *_said_again(text, told)]):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _said_again(text: str, told: Collection[str]) -> Iterator[Span]:
    plain = text.casefold()
    for secret in told:
        if secret.casefold() not in plain:
            continue  # compiling a pattern is expensive, and there may be a thousand secrets
        pattern = rf"(?i)(?<![\p{{Latin}}\p{{N}}]){regex.escape(secret)}(?![\p{{Latin}}\p{{N}}])"
        yield from (match.span() for match in regex.finditer(pattern, text))


def _found(text: str) -> Iterator[Span]:
    for pattern in (STATED, WITH_DIGIT, QUOTED, OTHER_LANGUAGES):
        for match in pattern.finditer(text):
            yield next(match.span(n) for n in range(1, match.re.groups + 1) if match[n])
    for pattern in (SHAPED, LONG):
        yield from (match.span() for match in pattern.finditer(text))
    for pattern, is_valid in NUMBERS:
        yield from (match.span() for match in pattern.finditer(text) if is_valid(match[0]))


def _is_card(text: str) -> bool:
    """Return whether it is a card's number, by Luhn's check digit (ISO/IEC 7812) and a first digit that issuers use."""
    digits = [int(digit) for digit in text if digit.isdigit()]
    doubled = [n if place % 2 == 0 else n * 2 - 9 * (n > 4) for place, n in enumerate(reversed(digits))]
    return digits[0] in range(2, 7) and len(set(digits)) > 1 and sum(doubled) % 10 == 0


def _is_iban(text: str) -> bool:
    """Return whether it begins with an IBAN, by the check digits (ISO 13616); capitals after it may be matched too."""
    bare = text.replace(" ", "")
    return any(
        int("".join(str(int(letter, 36)) for letter in bare[4:end] + bare[:4])) % 97 == 1
        for end in range(len(bare), 14, -1)
    )


def _is_chinese_id(text: str) -> bool:
    """Return whether it is a Chinese identity number, by its check digit (GB 11643)."""
    weights = [2 ** (17 - place) % 11 for place in range(17)]
    total = sum(int(digit) * weight for digit, weight in zip(text, weights, strict=False))
    return "10X98765432"[total % 11] == text[-1].upper()


NUMBERS: tuple[tuple["regex.Pattern[str]", Callable[[str], bool]], ...] = (
    (CARD, _is_card),
    (IBAN, _is_iban),
    (CHINESE_ID, _is_chinese_id),
)

"""What a person had forgotten: which texts tell of it, and what may not be learnt again.

A statement is the set of words that a text is about. Another text tells it if it holds most of these words. Once a
statement is forgotten, only digests of its words are kept; what the person tells anew afterwards may be learnt.
"""

import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from math import ceil
from uuid import UUID

import numpy as np

from memory.models import Forgotten, Memory
from memory.recall.candidates import PACKED, PackedIndex, fetch_packed, hash_term
from memory.recall.traits import tells_something, terms

TELLING_SHARE = 0.6  # of a statement's words that a text must hold to tell it,
MIN_WORDS = 2  # and at least so many, if the statement has several
DIGEST_BYTES, SALT_BYTES = 8, 16

Words = frozenset[str]
Telling = tuple[str, datetime]  # a text, and when it was said


def read_words(text: str, names: Iterable[str] = ()) -> Words:
    """Return the words that the text is about, without the `names` of the two who talk."""
    own = {term for name in names for term in terms(name)}
    return frozenset(
        term for term in terms(text) if len(term) > 1 and tells_something(term) and term not in own
    )


def tells(words: Words, statements: Iterable[Words]) -> bool:
    """Return whether a text with these words tells one of the statements, i.e. has most of its words."""
    return any(len(words & statement) >= _count_needed(len(statement)) for statement in statements)


def _count_needed(length: int) -> int:
    """Return how many words of a statement with `length` words tell it; 1, which is never reached, if it has none."""
    return max(min(MIN_WORDS, length), ceil(TELLING_SHARE * length), 1)


def find_telling_memories(companion_id: UUID, statements: Sequence[Words]) -> list[Memory]:
    """Return the companion's memories that tell one of the statements, closed ones and those on other branches too."""
    mine = Memory.everywhere.of(companion_id).exclude(entry=b"").order_by()
    packed = fetch_packed(mine, PACKED)
    index = PackedIndex.unpack(packed["entry"])
    places: set[int] = set()
    for statement in statements:
        held = np.count_nonzero(index.count_terms([hash_term(word) for word in statement]), axis=1)
        places |= set(np.flatnonzero(held >= _count_needed(len(statement))).tolist())
    ids = [UUID(bytes=packed["id"][16 * place : 16 * place + 16]) for place in sorted(places)]
    found = Memory.everywhere.of(companion_id).filter(pk__in=ids).defer("entry").order_by("happened_at", "pk")
    return [memory for memory in found if tells(read_words(memory.text), statements)]


# -- records of what was forgotten


def keep_forgotten(companion_id: UUID, statements: Iterable[Words], now: datetime) -> Forgotten:
    """Record that these statements are forgotten, by digests of their words instead of the words."""
    salt = secrets.token_bytes(SALT_BYTES)
    digests = [
        sorted(_digest(salt, word) for word in statement) for statement in set(statements) if statement
    ]
    return Forgotten.objects.create(companion_id=companion_id, salt=salt, statements=digests, at=now)


def _digest(salt: bytes, word: str) -> str:
    return blake2b(word.encode(), key=salt, digest_size=DIGEST_BYTES).hexdigest()


@dataclass(frozen=True, slots=True)
class ForgottenStatements:
    """The records of all that a companion's person had forgotten."""

    kept: tuple[Forgotten, ...]

    def forbid(self, text: str, tellings: Collection[Telling] = ()) -> bool:
        """Return whether the text tells something forgotten that none of the `tellings` has told anew since."""
        words = read_words(text) if self.kept else frozenset()
        told = [forgotten for forgotten in self.kept if _is_told(forgotten, words)]
        anew = [(read_words(said), at) for said, at in tellings] if told else []
        return any(
            not any(at > forgotten.at and _is_told(forgotten, said) for said, at in anew)
            for forgotten in told
        )

    def select_since(self, at: datetime) -> "ForgottenStatements":
        """Return only what was forgotten at `at` or later: what was said at that time cannot have told it anew."""
        return ForgottenStatements(tuple(forgotten for forgotten in self.kept if forgotten.at >= at))


def load_forgotten(companion_id: UUID) -> ForgottenStatements:
    """Return what the companion's person had forgotten. One query."""
    return ForgottenStatements(tuple(Forgotten.objects.filter(companion=companion_id)))


def _is_told(forgotten: Forgotten, words: Words) -> bool:
    salt = bytes(forgotten.salt)
    digests = frozenset(_digest(salt, word) for word in words)
    return tells(digests, map(frozenset, forgotten.statements))

"""Search a conversation for words, phrases in quotation marks and emoji, newest first.

The database finds the messages that contain all words (`MessageWords`). Their texts are then filtered by phrases, and
by longer runs of a script without spaces.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

import regex
from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.db.models import Value
from django.utils.translation import gettext as _

from companions.errors import SearchError
from companions.models import Companion, Message, MessageWords
from companions.pagination import PageIn, paginate
from memory.recall.traits import PAIRED
from text.strings import is_storable

MAX_CHARACTERS = 200
NEWEST_MESSAGES = 2_000  # searched first: for frequent words, they often fill the page
SNIPPET_BEFORE, SNIPPET_AFTER = 60, 160
QUOTED = regex.compile(r'"([^"]+)"|[“„]([^“”„]+)[”“]|「([^「」]+)」|『([^『』]+)』|«([^«»]+)»')
# A word that the snippet's edge would cut, with the space between it and the others.
BEGUN_WORD = regex.compile(r"\S{1,24}\s+")
LEFT_WORD = regex.compile(r"\s+\S{1,24}$")
RUN = regex.compile(rf"{PAIRED}{{3,}}")
WORD = regex.compile(rf"{PAIRED}+|(?:(?!{PAIRED})[\p{{L}}\p{{N}}\p{{M}}])+|\p{{Extended_Pictographic}}")


class Part(NamedTuple):
    """A piece of a snippet; `is_found` if it matches the query."""

    text: str
    is_found: bool


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed search query: the `keys` of its words in MessageWords, phrases, and a pattern of what to highlight."""

    keys: list[int]
    phrases: list[str]
    marked: regex.Pattern[str]

    def cut_snippet(self, text: str) -> list[Part]:
        """Return a snippet of the text around the first match, in parts, cut between words unless they are too long."""
        first = self.marked.search(text)
        found_from, found_to = first.span() if first else (0, 0)
        start, end = max(found_from - SNIPPET_BEFORE, 0), found_to + SNIPPET_AFTER
        if start and (begun := BEGUN_WORD.match(text, start - 1, found_from)):
            start = begun.end()
        if end < len(text) and (left := LEFT_WORD.search(text, found_to, end + 1)):
            end = left.start()
        return list(self._split(text, start, end))

    def _split(self, text: str, start: int, end: int) -> Iterator[Part]:
        at = start
        if start:
            yield Part("… ", False)
        for match in self.marked.finditer(text, start, end):
            yield Part(text[at : match.start()], False)
            yield Part(match[0], True)
            at = match.end()
        yield Part(text[at:end], False)
        if end < len(text):
            yield Part(" …", False)


def read_query(companion_id: UUID, text: str) -> Query:
    """Parse a search query; raise SearchError if it is too long, or contains nothing to search for."""
    if len(text) > MAX_CHARACTERS:
        detail = _("A search can have at most %(limit)d characters; a few words are enough.")
        raise SearchError("search_too_long", detail % {"limit": MAX_CHARACTERS})
    keys: list[int] = []
    if is_storable(text):
        with connection.cursor() as cursor:
            cursor.execute("SELECT companions_search_keys(%s, %s, false)", [companion_id, text])
            [keys] = cursor.fetchone()
    if not keys:
        raise SearchError("search_too_short", _("Type at least two letters of a word, or an emoji."))
    quoted = [" ".join(next(filter(None, match)).split()) for match in QUOTED.findall(text)]
    rest = QUOTED.sub(" ", text)
    marks = [*quoted, *WORD.findall(rest)]
    pattern = "|".join(_mark(mark) for mark in sorted(marks, key=len, reverse=True)) or "(?!)"
    phrases = [phrase for phrase in quoted if WORD.search(phrase)]
    return Query(keys, [*phrases, *RUN.findall(rest)], regex.compile(pattern, regex.IGNORECASE))


def _mark(words: str) -> str:
    """Return a pattern for highlighting `words`: in a script with spaces, only where a word begins."""
    is_spaced = regex.match(r"[\p{L}\p{N}]", words) and not regex.match(PAIRED, words)
    return (r"(?<![\p{L}\p{N}])" if is_spaced else "") + regex.escape(words, special_only=True)


def search(companion: Companion, query: Query, page: PageIn) -> tuple[list[Message], str | None]:
    """Return a page of messages on the chosen branch that match the query, and the cursor of the next page or None."""
    field: ArrayField[Any, Any] = ArrayField(models.IntegerField())
    found = MessageWords.objects.filter(
        words__contains=Value(query.keys, output_field=field),
        message__companion=companion,
        message__is_asleep=False,
    )
    for phrase in query.phrases:
        found = found.filter(message__text__icontains=phrase)
    found = found.select_related("message")
    rows: list[MessageWords] = []
    following: str | None = None
    if page.cursor is None:
        newest = Message.objects.filter(companion=companion).order_by("-said_at", "-id").values("pk")
        rows, following = paginate(found.filter(message__in=newest[:NEWEST_MESSAGES]), "said_at", page)
    if following is None:
        rows, following = paginate(found, "said_at", page)
    return [row.message for row in rows], following

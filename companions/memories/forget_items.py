"""Find what forgetting something would delete: everything that states it, and what was derived from that."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any
from uuid import UUID

from django.db.models import Q, TextChoices
from django.utils.translation import gettext_lazy as _

from companions.deletion.dependents import find_scope, find_timers
from companions.life.inner_state import get_newest
from companions.models import Companion, Message, Timer
from memory.deletion import preview_derived
from memory.forgotten import Words, find_telling_memories, read_words, tells
from memory.learning.revisions import load_current
from memory.models import Block, DiaryEntry, Memory, Revision, Slot
from text.strings import split_sentences

KEY_BYTES = 8
MAX_NEAR = 5
MAX_SHOWN = 300  # on a card; a form may not have more than a thousand fields


class Kind(TextChoices):
    """Where an item is kept."""

    MEMORY = "memory", _("remembered")
    DOCUMENT = "document", _("read in a document")
    MESSAGE = "message", _("said")
    USER_PROFILE = "user_profile", _("in your profile")
    SELF_CONCEPT = "self_concept", _("in its picture of itself")
    DIARY = "diary", _("in the diary")
    SLOT = "slot", _("always in mind")
    BLOCK = "block", _("in its notes")
    INNER_STATE = "inner_state", _("in its mood")
    TIMER = "timer", _("a plan or reminder")


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that would be deleted, identified by its key.

    It `goes_along` if it does not state what is forgotten, but was derived from an item that does. If it `is_near`, it
    may state it in other words.
    """

    kind: Kind
    key: str
    text: str
    row_id: UUID | None = None
    goes_along: bool = False
    is_near: bool = False

    @property
    def where(self) -> str:
        return str(self.kind.label)


def find_items(
    companion: Companion,
    statements: Sequence[Words],
    asked_in: Collection[Message] = (),
    *,
    near: Collection[UUID],
    now: datetime,
) -> list[Item]:
    """Return the items that contain one of the statements, and those derived from them, which go with them.

    `asked_in` are the messages of the request, which are items, too. `near` are memories that may state the same in
    other words: the first five that are no items yet come last, each with its sources that share a word with it.
    """
    telling = find_telling_memories(companion.pk, statements)
    learnt = [memory for memory in telling if memory.kind not in Memory.MIRRORS]
    gists = [memory for memory in telling if memory.kind == Memory.Kind.GIST]
    messages = _find_messages(companion, statements, telling, learnt, asked_in)
    ids = {message.pk for message in messages}
    items = [_make_row_item(Kind.MEMORY, memory.pk, memory.text) for memory in learnt]
    items += [_make_row_item(Kind.DOCUMENT, memory.pk, memory.text) for memory in gists]
    items += [_make_row_item(Kind.MESSAGE, message.pk, message.text) for message in messages]
    items += _find_sentences(companion, statements, ids)
    items += _find_derived(companion, messages, [*learnt, *gists], now)
    known = {item.row_id for item in items}
    items += _find_near(companion, [id for id in near if id not in known][:MAX_NEAR])
    first_of_key: dict[str, Item] = {}
    for item in items:
        first_of_key.setdefault(item.key, item)
    return list(first_of_key.values())


def _find_derived(
    companion: Companion, messages: Collection[Message], memories: Collection[Memory], now: datetime
) -> Iterator[Item]:
    """Yield what deleting these messages and memories would delete besides them and besides sentences: whatever came
    from them alone, or tells what only they tell.
    """
    sources = find_sources(companion, messages, memories)
    scope, reminders = find_scope(companion, now, messages=messages, sources=sources, memories=memories)
    for said in reminders:
        yield _make_row_item(Kind.MESSAGE, said.pk, said.text, goes_along=True)
    ids, slots, lines = preview_derived(scope)
    for memory in Memory.everywhere.of(companion.pk).filter(pk__in=ids).defer("entry").order_by("pk"):
        yield _make_row_item(Kind.MEMORY, memory.pk, memory.text, goes_along=True)
    for kind, texts in ((Kind.SLOT, slots), (Kind.BLOCK, lines)):
        yield from (_make_sentence_item(kind, text, goes_along=True) for text in texts)
    for timer in Timer.everywhere.filter(pk__in=find_timers(scope)).exclude(note=""):
        yield _make_row_item(Kind.TIMER, timer.pk, timer.note, goes_along=True)


def find_sources(
    companion: Companion, messages: Collection[Message], memories: Collection[Memory]
) -> list[Message]:
    """Return the messages that the learnt ones of these memories come from, besides these messages."""
    learnt = [memory for memory in memories if memory.kind not in Memory.MIRRORS]
    sources = Message.everywhere.filter(companion=companion, derived_memories__in=learnt)
    return list(sources.exclude(pk__in=[message.pk for message in messages]).distinct())


def _find_near(companion: Companion, near: Collection[UUID]) -> Iterator[Item]:
    found = Memory.everywhere.of(companion.pk).learnt().filter(pk__in=near) if near else ()
    for memory in found:
        yield _make_row_item(Kind.MEMORY, memory.pk, memory.text, is_near=True)
        words = read_words(memory.text, companion.names.values())
        for message in memory.sources.all():
            if words & read_words(message.text):
                yield _make_row_item(Kind.MESSAGE, message.pk, message.text, is_near=True)


def show_items(items: Iterable[Item]) -> dict[str, Any]:
    """Return a template context: at most MAX_SHOWN of the `items` that can be chosen and of those that go `along`, and
    how many more there are of each.
    """
    chosen: list[Item] = []
    along: list[Item] = []
    for item in items:
        (along if item.goes_along else chosen).append(item)
    return {
        "items": chosen[:MAX_SHOWN],
        "more": max(len(chosen) - MAX_SHOWN, 0),
        "along": along[:MAX_SHOWN],
        "along_more": max(len(along) - MAX_SHOWN, 0),
    }


def _find_messages(
    companion: Companion,
    statements: Sequence[Words],
    telling: Iterable[Memory],
    learnt: Iterable[Memory],
    asked_in: Iterable[Message],
) -> list[Message]:
    """Return the messages that contain a statement, the sources of `learnt` that share a word with one, the companion's
    answers to these, and the request (`asked_in`).
    """
    words = frozenset[str]().union(*statements)
    mine = Message.everywhere.filter(companion=companion)
    said = {memory.message_id for memory in telling if memory.message_id}
    behind = mine.filter(derived_memories__in=[memory.pk for memory in learnt]).distinct()
    said |= {message.pk for message in behind if words & read_words(message.text)}
    answers = Q(parent__in=said, parent__role=Message.Role.USER, role=Message.Role.ASSISTANT)
    asked = {message.pk for message in asked_in}
    return list(mine.filter(Q(pk__in=said | asked) | answers).order_by("said_at", "pk"))


def _find_sentences(
    companion: Companion, statements: Sequence[Words], messages: Collection[UUID]
) -> Iterator[Item]:
    """Yield items outside memories that contain a statement, and sentences with one of these messages as a source."""
    names, ids = companion.names.values(), set(map(str, messages))

    def told(text: str) -> bool:
        return tells(read_words(text, names), statements)

    def read(kind: Kind, sentences: Iterable[dict[str, Any]]) -> Iterator[Item]:
        for sentence in sentences:
            is_told = told(sentence["text"])
            if is_told or not ids.isdisjoint(map(str, sentence["sources"])):
                yield _make_sentence_item(kind, sentence["text"], goes_along=not is_told)

    for about in Revision.About:
        if revision := load_current(companion.pk, about):
            yield from read(Kind(about.value), revision.sentences)
    for entry in DiaryEntry.objects.filter(companion=companion).order_by("started_at"):
        yield from read(Kind.DIARY, entry.sentences)
    for slot in Slot.objects.filter(companion=companion):
        if told(text := f"{slot.name}: {slot.text}"):
            yield _make_sentence_item(Kind.SLOT, text)
    for block in Block.objects.filter(companion=companion):
        yield from (_make_sentence_item(Kind.BLOCK, line) for line in block.text.splitlines() if told(line))
    if state := get_newest(companion.pk):
        sentences = filter(told, split_sentences(state.text))
        yield from (_make_sentence_item(Kind.INNER_STATE, sentence) for sentence in sentences)


def _make_row_item(kind: Kind, id: UUID, text: str, **flags: bool) -> Item:
    return Item(kind, f"{kind}:{id}", text, id, **flags)


def _make_sentence_item(kind: Kind, text: str, *, goes_along: bool = False) -> Item:
    digest = blake2b(text.encode(), digest_size=KEY_BYTES).hexdigest()
    return Item(kind, f"{kind}:{digest}", text, goes_along=goes_along)

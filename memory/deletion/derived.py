"""What was derived from deleted things in memory's own tables: it is deleted too, or loses that part.

Memory      one that does not stand without the scope is deleted or concealed (`_widen`), another loses quotes and
            sources (`_strip_evidence`)
Slot        deleted (`_clear_core_memory`)
Block       loses lines (`_clear_core_memory`)
Revision    of self-concept or profile: a new one leaves sentences out (`drop_from_revisions`)
DiaryEntry  deleted, or loses sentences and is marked to be rewritten (`_clear_diary`)
Page        emptied when its gist is deleted (`delete_memories`)

`companions.deletion` handles what was derived in a companion's life. The docstrings say "the scope" for what is deleted,
corrected or concealed (`DeletionScope`).
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Prefetch, Q, QuerySet

from memory.deletion.scope import DeletionScope, Restatements, find_restatements
from memory.deletion.sentences import drop_from_revisions
from memory.learning.diary import UNTITLED, rewrite
from memory.learning.revisions import add_revision, load_current, load_holding
from memory.learning.rules.sincerity import ASKS_TO_FORGET
from memory.models import Block, Change, DiaryEntry, Memory, Page, Retraction, Revision, Slot
from memory.models.core_memory import By

Row = TypeVar("Row", Slot, Block)


@dataclass(frozen=True, slots=True)
class Derived:
    """Ids of memories: those `gone` are to be deleted, or kept from models; those `changed` say less than before."""

    gone: frozenset[UUID]
    changed: frozenset[UUID] = frozenset()


def remove_derived(scope: DeletionScope) -> Derived:
    """Take the scope out of what was derived from it; return which derived memories are to be deleted with it.

    The number of queries depends only on the number of diary entries and on how many steps of derivation there are.
    Call it with the companion locked, in the transaction that deletes the scope, before that.
    """
    wider = _widen_to_derived(scope)
    _strip_evidence(wider, _learnt_from(scope, scope.messages | scope.corrected))
    _clear_core_memory(wider)
    drop_from_revisions(scope.companion_id, wider.is_behind, scope.now)
    ended, changed = _clear_diary(wider)
    return Derived(wider.memories - scope.memories | ended, changed)


def preview_derived(scope: DeletionScope) -> tuple[frozenset[UUID], list[str], list[str]]:
    """Return what `remove_derived` would take out besides sentences of the diary, self-concept and profile: the ids of
    memories, slots as "name: text", and lines of blocks. Only reads.
    """
    wider = _widen_to_derived(scope)
    restated = find_restatements(wider)
    slots = _find_touched(Slot.objects.filter(companion_id=scope.companion_id), wider, restated)
    blocks = _find_touched(Block.objects.filter(companion_id=scope.companion_id), wider, restated)
    left = {block.pk: _lines_left(block, wider, restated) for block in blocks}
    lines = [line for block in blocks for line in block.text.splitlines() if line not in left[block.pk]]
    return wider.memories - scope.memories, [f"{slot.name}: {slot.text}" for slot in slots], lines


def conceal_derived(scope: DeletionScope) -> Derived:
    """Keep the scope and what was derived from it from models: make such memories private.

    What other messages told as well stays as it was; so does what was learnt from the scope's `sources`, unless it has
    a word of the scope that its other messages do not have. Core memory, self-concept and profile lose what tells of
    the scope. A diary entry with nothing else to tell stays, for its owner to read.
    """
    condition = _learnt_from(scope, scope.all_messages) | _drawn_from(scope.memories)
    wider = _widen(scope, condition, lambda memory, so_far: _stands(memory, so_far, with_sources=True))
    _clear_core_memory(wider)
    drop_from_revisions(scope.companion_id, wider.is_behind, scope.now)
    ended, changed = _clear_diary(wider, stays=True)
    private = wider.memories | ended
    Memory.everywhere.of(scope.companion_id).filter(pk__in=private).update(is_private=True)
    return Derived(private, changed)


def remove_corrected(scope: DeletionScope, memory: Memory) -> frozenset[UUID]:
    """Remove from core memory, self-concept and profile what the memory said before its correction; the profile then
    says what the memory says now. Return the ids of the memories drawn from the old words, which are to be deleted.

    `scope` has the messages behind the memory as `sources`. A sentence that has other messages behind it as well stays
    as it is, and so does the diary: it tells what was said on its day.
    """
    _clear_core_memory(scope)
    for about in Revision.About:
        before = load_current(scope.companion_id, about)
        texts = {sentence["text"] for sentence in before.sentences} if before else set()
        kept, is_changed, is_told = [], False, about == Revision.About.SELF_CONCEPT
        # As they hold now: in a revision by the user, those of memories that were closed would count as true again.
        for sentence in load_holding(before) if before else ():
            if sentence["text"] not in texts:  # a memory's, which names itself as its first source
                sentence["sources"] = sentence["sources"][1:]
            is_its_own = scope.sources.issuperset(UUID(str(id)) for id in sentence["sources"])
            if not is_its_own or not scope.is_behind(sentence):
                kept.append(sentence)
                continue
            is_changed = True
            if not is_told:
                kept.append({**sentence, "text": memory.text})
                is_told = True
        if is_changed:
            add_revision(scope.companion_id, about, kept, Revision.By.USER, scope.now)
    drawn = _load(scope.companion_id, _drawn_from([memory.pk]), [memory.pk])
    left = {other.pk: [one.text for one in other.drawn_from.all() if one.pk != memory.pk] for other in drawn}
    return frozenset(other.pk for other in drawn if scope.tells(other.text, left[other.pk]))


def delete_memories(companion_id: UUID, ids: Collection[UUID], unsaid: DeletionScope | None = None) -> None:
    """Delete the memories. The page behind a gist stays, but without its text, so that no gist is written for it again.

    What they replaced counts as replaced by what has replaced them. If nothing has, and the messages of `unsaid` count
    as never said, it holds again; and so does what these have denied. Call it with the companion locked: otherwise an
    embedding that is stored meanwhile could make the deletion fail.
    """
    _pass_on(companion_id, ids, reopens=unsaid is not None)
    if unsaid:
        _reopen_denied(unsaid)
    Page.objects.filter(companion_id=companion_id, memory__in=ids).update(text="", gist="", call=None)
    Memory.everywhere.of(companion_id).filter(pk__in=ids).delete()


def _pass_on(companion_id: UUID, ids: Collection[UUID], *, reopens: bool) -> None:
    """Link what these memories replaced to what has replaced them; reopen it if nothing has and `reopens`, unless the
    person has settled that it does not hold.
    """
    mine = Memory.everywhere.of(companion_id)
    replaced = list(mine.filter(replaced_by__in=ids).exclude(pk__in=ids).defer("entry"))
    rows = mine.filter(pk__in=ids).values_list("pk", "replaced_by", "closed_at") if replaced else ()
    after = {pk: (replaced_by, closed_at) for pk, replaced_by, closed_at in rows}
    settled = Change.objects.filter(
        companion=companion_id, before__closed__in=[str(memory.pk) for memory in replaced], undone_at=None
    )
    untrue = set(settled.values_list("before__closed", flat=True)) if replaced else set()
    for memory in replaced:
        closed_at, seen = None, set[UUID | None]()
        # A forged archive may contain a circle.
        while (id := memory.replaced_by_id) in after and id not in seen:
            seen.add(id)
            memory.replaced_by_id, closed_at = after[id]
        if reopens and not (memory.replaced_by_id or closed_at or str(memory.pk) in untrue):
            memory.closed_at = None
    mine.bulk_update(replaced, ["replaced_by", "closed_at"], batch_size=500)
    reopened = [memory for memory in replaced if not memory.closed_at]
    Retraction.objects.filter(companion_id=companion_id, memory__in=reopened).delete()


def _reopen_denied(unsaid: DeletionScope) -> None:
    """Reopen the memories of which one of these messages alone said that they do not hold any more, but none that one of
    them asks to have forgotten.
    """
    mine = Memory.everywhere.of(unsaid.companion_id)
    said_at = mine.filter(message__in=unsaid.all_messages).values("happened_at")
    denied = mine.learnt().filter(replaced_by=None, closed_at__in=said_at).exclude(pk__in=unsaid.memories)
    asked = unsaid.words_of(text for text in unsaid.texts if ASKS_TO_FORGET.search(text))
    reopened = [
        memory.pk
        for memory in denied.defer("entry")
        if unsaid.tells(memory.text) and asked.isdisjoint(unsaid.read(memory.text))
    ]
    mine.filter(pk__in=reopened).update(closed_at=None)


# -- memories


def _widen_to_derived(scope: DeletionScope) -> DeletionScope:
    """Return the scope extended by the memories that do not stand without it, or that restate what it told."""
    direct = _learnt_from(scope, scope.messages | scope.corrected)
    wider = _widen(scope, direct | _drawn_from(scope.memories), _stands)
    siblings = _find_siblings(wider)
    return _widen(wider.with_memories(siblings), _drawn_from(siblings), _stands)


def _learnt_from(scope: DeletionScope, messages: Collection[UUID]) -> Q:
    """Return the condition for the memories that were learnt from these messages."""
    sources = Memory.sources.through.objects.filter(
        message__companion=scope.companion_id, message__in=messages
    )
    return Q(pk__in=sources.values("memory"))


def _drawn_from(memories: Collection[UUID]) -> Q:
    """Return the condition for the memories that were drawn from these memories."""
    drawn = Memory.drawn_from.through.objects.filter(to_memory__in=list(memories))
    return Q(pk__in=drawn.values("from_memory"))


def _load(companion_id: UUID, condition: Q, seen: Collection[UUID]) -> list[Memory]:
    """Return the learnt memories that match the condition and are not among `seen`, with what is behind each."""
    learnt = Memory.everywhere.of(companion_id).learnt().exclude(pk__in=list(seen))
    messages: Any = Memory._meta.get_field("sources").related_model
    sources = Prefetch("sources", messages.everywhere.filter(companion=companion_id))
    earlier = Prefetch("drawn_from", Memory.everywhere.of(companion_id))
    return list(learnt.filter(condition).defer("entry").prefetch_related(sources, earlier))


def _widen(
    scope: DeletionScope, condition: Q, stands: Callable[[Memory, DeletionScope], bool]
) -> DeletionScope:
    """Return the scope extended by the memories that match the condition and do not stand without it; then by those
    that were drawn from these, and so on.
    """
    seen = set(scope.memories)
    while memories := _load(scope.companion_id, condition, seen):
        seen |= {memory.pk for memory in memories}
        fallen = {memory.pk: memory.text for memory in memories if not stands(memory, scope)}
        scope, condition = scope.with_memories(fallen), _drawn_from(fallen)
    return scope


def _stands(memory: Memory, scope: DeletionScope, with_sources: bool = False) -> bool:
    """Return whether what is left behind the memory tells all that the scope told of it.

    `with_sources` asks as well that it does so without the messages in the scope's `sources`.
    """
    sources = [message for message in memory.sources.all() if message.pk not in scope.messages]
    drawn_from = [earlier for earlier in memory.drawn_from.all() if earlier.pk not in scope.memories]
    left = [message.text for message in sources] + [earlier.text for earlier in drawn_from]
    if not left or scope.tells(memory.text, left):
        return False
    others = [message.text for message in sources if message.pk not in scope.sources]
    return not with_sources or len(others) == len(sources) or not scope.tells(memory.text, others)


def _find_siblings(scope: DeletionScope) -> dict[UUID, str]:
    """Return the texts, by id, of memories that were learnt from the scope's `sources` and restate a fact of the scope
    that none of their other messages tells.
    """
    if not scope.sources:
        return {}
    learnt = _load(scope.companion_id, _learnt_from(scope, scope.sources), scope.memories)
    unique = find_restatements(scope).facts if learnt else frozenset()
    siblings = {}
    for memory in learnt:
        others = [message.text for message in memory.sources.all() if message.pk not in scope.all_messages]
        if (unique & scope.read(memory.text)).difference(*map(scope.read, others)):
            siblings[memory.pk] = memory.text
    return siblings


def _strip_evidence(scope: DeletionScope, condition: Q) -> None:
    """Remove the quotes and sources that are deleted from the memories that stay, and reduce their evidence."""
    memories = _load(scope.companion_id, condition, scope.memories)
    corrected = {str(id) for id in scope.corrected}
    for memory in memories:
        left = [message for message in memory.sources.all() if message.pk not in scope.messages]
        texts = {str(message.pk): message.text for message in left}
        quotes, before = [], memory.quoted
        for quote in memory.quotes:
            id = str(quote["message"])
            if id in texts and (id not in corrected or quote["text"] in texts[id]):
                quotes.append(quote)
        memory.quotes = quotes
        fewest = 0 if scope.corrected and len(left) == len(memory.sources.all()) else 1
        lost = max(fewest, len(before - memory.quoted))
        memory.evidence = max(1, memory.evidence - lost)
    mine = Memory.everywhere.of(scope.companion_id)
    mine.bulk_update(memories, ["quotes", "evidence"], batch_size=500)
    sources = Memory.sources.through.objects.filter(memory__companion=scope.companion_id, memory__in=memories)
    sources.filter(message__in=scope.messages).delete()


# -- slots and blocks


def _clear_core_memory(scope: DeletionScope) -> None:
    """Delete the slots that come from the scope or restate it, and remove such lines from blocks.

    Unless the scope is only corrected, a block that the companion has written also loses the lines that share no word
    with any other message behind it.
    """
    restated = find_restatements(scope)
    slots = _find_touched(Slot.objects.filter(companion_id=scope.companion_id), scope, restated)
    Slot.objects.filter(companion_id=scope.companion_id, pk__in=[slot.pk for slot in slots]).delete()
    mine = Block.objects.filter(companion_id=scope.companion_id)
    blocks = _find_touched(mine, scope, restated)
    for block in blocks:
        block.text, block.changed_at = "\n".join(_lines_left(block, scope, restated)), scope.now
    mine.bulk_update(blocks, ["text", "changed_at"])
    if not scope.kept:  # a message that is only corrected stays a source
        sources = Block.sources.through.objects.filter(block__companion=scope.companion_id, block__in=blocks)
        sources.filter(message__in=scope.all_messages).delete()


def _find_touched(rows: QuerySet[Row], scope: DeletionScope, restated: Restatements) -> list[Row]:
    """Return the slots or blocks that come from the scope or restate it."""
    touched = []
    for row in rows.prefetch_related("sources"):
        sources = {message.pk for message in row.sources.all()}
        told = f"{row.name}\n{row.text}"
        text = told if isinstance(row, Slot) else row.text
        if (
            sources & scope.messages
            or (sources & scope.sources and scope.tells(told))
            or restated.stand_in_row(row, text, _texts_left(row, scope))
        ):
            touched.append(row)
    return touched


def _texts_left(row: Slot | Block, scope: DeletionScope) -> list[str]:
    """Return the texts of the messages behind the row that are not in the scope."""
    return [message.text for message in row.sources.all() if message.pk not in scope.all_messages]


def _lines_left(block: Block, scope: DeletionScope, restated: Restatements) -> list[str]:
    """Return the lines that the block keeps."""
    left = _texts_left(block, scope)
    lines = [line for line in block.text.splitlines() if not restated.stand_in_row(block, line, left)]
    if scope.all_messages.isdisjoint(message.pk for message in block.sources.all()):
        return lines
    lines = [line for line in lines if not scope.tells(line, left)]
    if block.by != By.COMPANION or scope.kept:
        return lines
    known = frozenset[str]().union(*map(scope.read, left))
    return [line for line in lines if known & scope.read(line)]


# -- diary


def _clear_diary(scope: DeletionScope, *, stays: bool = False) -> tuple[frozenset[UUID], frozenset[UUID]]:
    """Clear the diary of what tells of the scope. Return the ids of the memories that mirror entries with nothing left
    to tell, and of those that mirror entries waiting to be rewritten.

    An entry has nothing left if the user said nothing else in its session that may be told, or if it comes from
    messages of the scope and its session has none. Unless it `stays`, it is deleted; so is an entry whose mirror is in
    the scope.
    """
    mine = DiaryEntry.objects.filter(companion_id=scope.companion_id)
    pages = mine.filter(memory__sources__in=scope.all_messages, session__messages=None)
    entries = list(mine.filter(session__messages__in=scope.all_messages).distinct())
    said = Memory.objects.of(scope.companion_id).filter(
        message__session__in=[entry.session_id for entry in entries],
        message__is_hidden=False,
        is_private=False,
    )
    left: dict[UUID, list[tuple[str, str]]] = {entry.session_id: [] for entry in entries}
    there = said.exclude(message__in=scope.all_messages - scope.corrected)
    for session_id, speaker, text in there.values_list("message__session", "speaker", "message__text"):
        left[session_id].append((speaker, text))
    ended, changed = list(pages.distinct()), []
    for entry in entries:
        if all(speaker != Memory.Speaker.USER for speaker, _ in left[entry.session_id]):
            ended.append(entry)
        elif entry.memory_id not in scope.memories:
            texts = [text for _, text in left[entry.session_id]]
            if _clear_entry(entry, scope, scope.lost_words(texts)):
                changed.append(entry)
    if not stays:
        mine.filter(Q(pk__in=[entry.pk for entry in ended]) | Q(memory__in=scope.memories)).delete()
    return _mirrors(ended), _mirrors(changed)


def _clear_entry(entry: DiaryEntry, scope: DeletionScope, lost: frozenset[str]) -> bool:
    """Remove what tells of the scope from the entry and mark it to be rewritten; return False if nothing in it does."""
    kept = [
        sentence
        for sentence in entry.sentences
        if not scope.is_behind(sentence) and lost.isdisjoint(scope.read(sentence["text"]))
    ]
    is_titled = lost.isdisjoint(scope.read(entry.title))
    if kept == entry.sentences and is_titled:
        return False
    title = entry.title if is_titled else UNTITLED
    rewrite(entry, scope.now, title=title, sentences=kept, is_stale=True, attempts=0, next_at=scope.now)
    return True


def _mirrors(entries: Sequence[DiaryEntry]) -> frozenset[UUID]:
    """Return the ids of the memories that mirror these diary entries."""
    return frozenset(entry.memory_id for entry in entries if entry.memory_id)

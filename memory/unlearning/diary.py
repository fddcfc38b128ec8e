"""Diary entries of sessions in which something goes: left without it until they are written anew, or gone with it."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from uuid import UUID

from memory.closing import rewrite
from memory.models import DiaryEntry, Memory
from memory.unlearning.gone import Gone
from memory.unlearning.sentences import without

UNTITLED = "…"
TITLE_CHARACTERS = 120


def unlearn(gone: Gone) -> tuple[set[UUID], set[UUID]]:
    """The ids of the memories that mirror touched entries: those that are to be deleted, and those that have changed.

    What is left of an entry stands until it is written anew. It goes where the user said nothing else in its session
    that may be told, and where the memory that mirrors it is what goes.
    """
    mine = DiaryEntry.objects.filter(companion_id=gone.companion_id)
    ends, changed = _touched(gone.companion_id, gone)
    mine.filter(pk__in=[one.pk for one in ends]).delete()
    mine.filter(memory__in=gone.memories).delete()
    return _mirrors(ends), _mirrors(changed)


def conceal(gone: Gone) -> set[UUID]:
    """The ids of the memories that mirror entries of which nothing may be told any more; others are left without it."""
    return _mirrors(_touched(gone.companion_id, gone)[0])


def _touched(companion_id: UUID, gone: Gone) -> tuple[list[DiaryEntry], list[DiaryEntry]]:
    """The entries that have nothing left to tell, and those out of which something was taken.

    Of a page that tells of no session's talk nothing is left: there is nothing of which it could be written anew.
    """
    mine = DiaryEntry.objects.filter(companion_id=companion_id)
    pages = list(mine.filter(memory__sources__in=gone.all_messages, session__messages=None).distinct())
    entries = list(mine.filter(session__messages__in=gone.all_messages).distinct())
    left = _left(entries, gone)
    ends = [one for one in entries if not left[one.session_id]["user"]]
    stands = [one for one in entries if one not in ends and one.memory_id not in gone.memories]
    return [*ends, *pages], [
        one for one in stands if _take_out(one, gone, [*chain(*left[one.session_id].values())])
    ]


def _mirrors(entries: Sequence[DiaryEntry]) -> set[UUID]:
    return {one.memory_id for one in entries if one.memory_id}


def _left(entries: Sequence[DiaryEntry], gone: Gone) -> dict[UUID, dict[str, list[str]]]:
    """What is left of each session that a model may see: the texts by speaker."""
    said = Memory.objects.of(gone.companion_id).filter(
        message__session__in=[one.session_id for one in entries], message__is_hidden=False, is_private=False
    )
    left: dict[UUID, dict[str, list[str]]] = defaultdict(lambda: {"user": [], "companion": [], "": []})
    for session_id, speaker, text in said.exclude(message__in=gone.all_messages - gone.corrected).values_list(
        "message__session", "speaker", "message__text"
    ):
        left[session_id][speaker].append(text)
    return left


def _take_out(entry: DiaryEntry, gone: Gone, left: Sequence[str]) -> bool:
    """Whether something of the entry was drawn from what goes; it is taken out then."""
    words = gone.only_here(left)
    kept = [one for one in without(entry.sentences, gone) if words.isdisjoint(gone.read(one["text"]))]
    title = entry.title
    if not words.isdisjoint(gone.read(title)):
        title = kept[0]["text"][:TITLE_CHARACTERS] if kept else UNTITLED
    if kept == entry.sentences and title == entry.title:
        return False
    waits = {"is_stale": True, "attempts": 0, "next_at": gone.now}
    rewrite(entry, gone.now, title=title, sentences=kept, **waits)
    return True

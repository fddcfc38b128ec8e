"""The end of a session: saving what a model wrote of it as diary entry, self-concept and user profile."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, tzinfo
from typing import Any
from uuid import UUID

from memory.forgotten import load_forgotten
from memory.learning.revisions import add_revision, load_current
from memory.models import DiaryEntry, Memory, Revision
from memory.store import correct, entry_of, link_sources, nudge
from text.strings import join_sentences, storable

Sentences = list[dict[str, Any]]
UNTITLED = "…"
NOON = time(12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a model wrote about a session; sentences are [{"text", "sources": ids of messages}]."""

    title: str
    diary: Sentences
    emotion: str
    intensity: float
    self_concept: Sentences
    user_profile: Sentences
    call_id: int | None
    understood_by: int | None = None  # the call behind self-concept and profile, if it is another


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedSession:
    """A closed session: its id, when it began and ended, and what was written about it."""

    session_id: UUID
    started_at: datetime
    ended_at: datetime
    written: Written


def keep_session(companion_id: UUID, ended: ClosedSession, now: datetime, zone: tzinfo) -> DiaryEntry:
    """Save the diary entry, mirrored as a memory, and new revisions of the self-concept and profile it has changed.

    Call it inside the transaction that ends the session, with the companion locked. A session has one entry only.
    """
    written = drop_forgotten(companion_id, ended.written)
    for about in Revision.About:
        sentences = getattr(written, about.value)
        if sentences or load_current(companion_id, about):
            add_revision(
                companion_id,
                about,
                sentences,
                Revision.By.CLOSING,
                now,
                session_id=ended.session_id,
                call_id=written.understood_by or written.call_id,
            )
    return keep_entry(companion_id, ended, now, zone)


def drop_forgotten(companion_id: UUID, written: Written) -> Written:
    """Return what was written, without sentences that tell something forgotten, unless it was told anew since."""
    forgotten = load_forgotten(companion_id)
    if not forgotten.kept:
        return written
    parts = (written.diary, written.self_concept, written.user_profile)
    ids = {UUID(str(id)) for sentences in parts for each in sentences for id in each["sources"]}
    said = Memory.objects.of(companion_id).filter(message__in=ids)
    tellings = {str(id): (text, at) for id, text, at in said.values_list("message", "text", "happened_at")}

    def is_forbidden(sentence: Mapping[str, Any]) -> bool:
        sources = [tellings[id] for id in map(str, sentence["sources"]) if id in tellings]
        return forgotten.forbid(sentence["text"], sources)

    diary, own, theirs = (
        [sentence for sentence in sentences if not is_forbidden(sentence)] for sentences in parts
    )
    title = UNTITLED if forgotten.forbid(written.title, list(tellings.values())) else written.title
    return replace(written, diary=diary, self_concept=own, user_profile=theirs, title=title)


def keep_entry(companion_id: UUID, ended: ClosedSession, now: datetime, zone: tzinfo) -> DiaryEntry:
    """Save the diary entry alone, without what was forgotten, mirrored as a memory by which recall finds it.

    The memory happened when the session began or, if the entry's day is another day, at its noon or when the session
    ended, whichever was earlier.
    """
    written = drop_forgotten(companion_id, ended.written)
    text = storable(_render(written.title, written.diary))
    entry = DiaryEntry(
        companion_id=companion_id,
        session_id=ended.session_id,
        title=written.title,
        sentences=written.diary,
        started_at=ended.started_at,
        ended_at=ended.ended_at,
        emotion=written.emotion,
        intensity=written.intensity,
        call_id=written.call_id,
        made_at=now,
    )
    day, began = entry.get_day(zone), ended.started_at
    noon = min(datetime.combine(day, NOON, zone), ended.ended_at)
    happened_at = began if began.astimezone(zone).date() == day else noon
    entry.memory = Memory.objects.create(
        companion_id=companion_id,
        kind=Memory.Kind.DIARY,
        text=text,
        happened_at=happened_at,
        learnt_at=now,
        call_id=written.call_id,
        entry=entry_of(text, "", happened_at, zone),
    )
    link_sources(entry.memory, sources_of(written.diary))
    nudge(companion_id)
    entry.save()
    return entry


def sources_of(sentences: Sequence[Mapping[str, Any]]) -> list[UUID]:
    """Return the ids of the messages behind these sentences, each once."""
    return list(dict.fromkeys(UUID(source) for sentence in sentences for source in sentence["sources"]))


def rewrite(entry: DiaryEntry, now: datetime, **fields: Any) -> None:
    """Update these `fields` of the entry, and the text and sources of the memory that mirrors it.

    If the entry has no sentences left, the memory becomes stale, so that it is kept from models.
    """
    for name, value in fields.items():
        setattr(entry, name, value)
    entry.save(update_fields=list(fields))
    memory = (
        Memory.objects.of(entry.companion_id)
        .filter(diary_entry=entry)
        .select_related("companion__user")
        .first()
    )
    if memory:
        correct(memory, _render(entry.title, entry.sentences), now)
        memory.sources.set(sources_of(entry.sentences))  # type: ignore[arg-type]  # their ids are UUIDs
        Memory.objects.of(entry.companion_id).filter(pk=memory.pk).update(
            is_stale=not entry.sentences, edited_at=None
        )


def _render(title: str, sentences: Sequence[dict[str, Any]]) -> str:
    """Return the entry's text below its title; without the title where that is only how the text begins."""
    text, begun = join_sentences(sentence["text"] for sentence in sentences), title.rstrip(".。… ")
    is_whole_word = title.endswith("…") or not text[len(begun) :][:1].isalnum()
    return text if text.startswith(begun) and is_whole_word else f"{title}\n{text}"

"""The sections of an archive: the archived fields of each table. A field that is not listed is left out.

An archive may be forged. So a field is listed only if its user could set it anyway: no ids except the archive's own, no
owner, no lease, no cost, no key of the file storage. Packages above this one add their sections by `register`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.db import models

from companions.archives import shapes
from companions.archives.shapes import Check
from companions.minds.sampling import check_sampling
from companions.models import (
    Attachment,
    Bookmark,
    Branch,
    Card,
    CharacterVersion,
    Companion,
    Conversation,
    ForgetProposal,
    InnerState,
    JournalEntry,
    Life,
    Lorebook,
    LoreEntry,
    LoreFiring,
    Message,
    Mind,
    Picture,
    Portrait,
    Reply,
    Session,
    Timer,
    Waking,
)
from companions.models.character_version import MAX_VERSIONS
from files.models import StoredFile
from memory.documents.intake import MAX_DOCUMENTS
from memory.models import (
    Block,
    Change,
    Consolidation,
    DiaryEntry,
    Document,
    Forgotten,
    Learning,
    Memory,
    Page,
    Pursuit,
    Recall,
    Recalled,
    Retraction,
    Revision,
    Slot,
    Thread,
)
from memory.models.core_memory import MAX_BLOCKS, MAX_SLOTS

MANY = 2_000_000


@dataclass(frozen=True)
class Section:
    """The archived rows of one table.

    `fields` are the columns, `way` is the lookup from a row to its companion, `most` the number of rows allowed. If
    `is_numbered`, rows have integer ids that the journal refers to. `shapes` and `plain` check JSON fields and lists;
    those in `plain` contain no ids of Kith's, so nothing in them is replaced. `only` filters the companion's rows.
    """

    model: type[models.Model]
    fields: Sequence[str]
    way: str = "companion"
    most: int = MANY
    is_numbered: bool = False
    shapes: Mapping[str, Check] = field(default_factory=dict)
    plain: Mapping[str, Check] = field(default_factory=dict)
    only: models.Q = field(default_factory=models.Q)

    @property
    def table(self) -> str:
        return self.model._meta.db_table


COMPANION = Section(
    Companion,
    (
        *("id", "name", "nickname", "persona", "personality", "scenario", "greeting", "alternate_greetings"),
        *("example_dialogue", "system_prompt", "post_history_instructions", "depth_prompt"),
        *("depth_prompt_depth", "depth_prompt_role", "without_directions", "suggestions", "tint"),
        *("recall_policy", "recall_parameters", "idle_hours", "understood_until", "created_at"),
    ),
    way="pk",
    most=1,
    plain={"recall_parameters": shapes.OBJECT},
)
FILES = Section(
    StoredFile,
    ("id", "kind", "content_type", "bytes", "sha256", "seconds", "width", "height", "created_at"),
    most=19_000,
    only=~models.Q(kind=StoredFile.Kind.SPEECH),  # speech can be made from the texts again
)
JOURNAL = Section(
    JournalEntry,
    ("at", "table", "row", "kind", "before", "after", "is_undone"),
    shapes={"before": shapes.OBJECT, "after": shapes.OBJECT},
)
SECTIONS: dict[str, Section] = {
    "companion": COMPANION,
    "conversations": Section(
        Conversation, ("id", "head_id", "branch_id", "read_until", "greeting", "created_at"), most=1
    ),
    "branches": Section(
        Branch, ("id", "conversation_id", "head_id", "name", "made_at", "left_at"), most=10_000
    ),
    "sessions": Section(
        Session,
        (
            *("id", "conversation_id", "started_at", "ended_at", "title", "summary", "summarised_until"),
            *("unsent", "pressure", "digest_at", "digest_attempts", "scratch", "tool_groups", "waking_id"),
            "is_asleep",
        ),
    ),
    "messages": Section(
        Message,
        (
            *("id", "conversation_id", "session_id", "parent_id", "quoted_id", "role", "author", "text"),
            *("client_id", "said_at", "created_at", "is_hidden", "is_rehearsed", "model", "is_stand_in"),
            *("is_learnt", "is_asleep", "waking_id"),
        ),
        most=settings.MESSAGES_EACH,
    ),
    "bookmarks": Section(Bookmark, ("id", "message_id", "made_at")),
    "attachments": Section(Attachment, ("id", "message_id", "file_id", "document_id", "name", "created_at")),
    "replies": Section(
        Reply,
        (
            *("id", "message_id", "answer_id", "continues_id", "state", "text", "thought", "seq"),
            *("tool_calls", "emotions", "lore", "code", "template", "model", "is_stand_in", "is_in_call"),
            *("created_at", "started_at", "first_piece_at", "ended_at"),
        ),
        shapes={"tool_calls": shapes.CALLS, "lore": shapes.check_lore, "emotions": shapes.EMOTIONS},
    ),
    "life": Section(
        Life,
        (
            *("is_awake", "reaches_out", "is_muted", "most_a_day", "quiet_from", "quiet_until"),
            *("sleeps_from", "sleeps_until", "by_email", "by_push", "drives_at", "reflect_at"),
            "reflect_attempts",
        ),
        most=1,
    ),
    "mind": Section(
        Mind,
        (
            *("model", "prompt_version", "background_model", "allows_stand_in", "declined_model"),
            *("asks_again_at", "preset", "sampling", "context_tokens"),
        ),
        most=1,
        plain={"sampling": check_sampling},
    ),
    "inner_states": Section(
        InnerState,
        (
            *("id", "number", "text", "valence", "arousal", "emotion", "intensity", "by", "seen"),
            *("is_rehearsed", "until_at", "waking_id", "made_at"),
        ),
    ),
    "timers": Section(
        Timer,
        (
            *("id", "schedule", "name", "note", "by", "is_asked_for", "state", "due_at", "look_at"),
            *("attempts", "error", "message_id", "waking_id", "created_at", "ended_at", "is_asleep"),
        ),
        most=50_000,
    ),
    "wakings": Section(
        Waking,
        (
            *("id", "timer_id", "origin", "due_at", "missed", "missed_since", "drive", "drive_key"),
            *("about_id", "note", "is_asked_for", "state", "outcome", "reason", "thought", "text"),
            *("emotions", "steps", "shown", "is_rehearsed", "model", "is_stand_in", "attempts"),
            *("look_at", "created_at", "started_at", "ended_at"),
        ),
        shapes={"steps": shapes.STEPS, "emotions": shapes.EMOTIONS},
    ),
    "memories": Section(
        Memory,
        (
            *("id", "kind", "text", "speaker", "happened_at", "learnt_at", "edited_at", "closed_at"),
            *("replaced_by_id", "is_pinned", "is_private", "is_stale", "message_id", "quotes"),
            *("importance", "evidence", "confidence", "tags", "joy", "aversion", "times_recalled"),
            *("recalled_at", "is_asleep"),
        ),
        shapes={"quotes": shapes.QUOTES},
    ),
    "memory_sources": Section(Memory.sources.through, ("memory_id", "message_id"), way="memory__companion"),
    "memory_grounds": Section(
        Memory.drawn_from.through, ("from_memory_id", "to_memory_id"), way="from_memory__companion"
    ),
    "pursuits": Section(
        Pursuit,
        (
            *("id", "memory_id", "status", "progress", "parent_id", "excitement", "origin"),
            *("reviewed_at", "moved_at"),
        ),
        is_numbered=True,
    ),
    "threads": Section(
        Thread, ("id", "memory_id", "due_on", "state", "opened_at", "closed_at", "settled_by_id")
    ),
    "diary": Section(
        DiaryEntry,
        (
            *("id", "session_id", "title", "sentences", "started_at", "ended_at", "emotion", "intensity"),
            *("memory_id", "is_stale", "attempts", "next_at", "made_at"),
        ),
        shapes={"sentences": shapes.SENTENCES},
    ),
    "revisions": Section(
        Revision,
        ("id", "about", "number", "sentences", "by", "session_id", "is_stale", "made_at"),
        shapes={"sentences": shapes.SENTENCES},
    ),
    "slots": Section(Slot, ("id", "name", "text", "by", "changed_at"), most=MAX_SLOTS, is_numbered=True),
    "slot_sources": Section(
        Slot.sources.through, ("id", "slot_id", "message_id"), way="slot__companion", is_numbered=True
    ),
    "blocks": Section(
        Block,
        ("id", "name", "description", "text", "most_characters", "is_read_only", "by", "changed_at"),
        most=MAX_BLOCKS,
        is_numbered=True,
    ),
    "block_sources": Section(
        Block.sources.through, ("id", "block_id", "message_id"), way="block__companion", is_numbered=True
    ),
    "documents": Section(
        Document,
        ("id", "title", "characters", "error", "attempts", "next_at", "given_at"),
        most=MAX_DOCUMENTS,
    ),
    "pages": Section(Page, ("document_id", "number", "text", "gist", "memory_id")),
    "recalls": Section(Recall, ("id", "reply_id", "by", "cue", "at", "milliseconds", "policy")),
    "recalled": Section(
        Recalled,
        ("recall_id", "memory_id", "rank", "score", "reasons", "is_used"),
        way="recall__companion",
        most=20_000_000,
        shapes={"reasons": shapes.OBJECT},
    ),
    "learnings": Section(
        Learning,
        ("session_id", "messages", "verdicts", "at"),
        shapes={"verdicts": shapes.VERDICTS},
    ),
    "nights": Section(
        Consolidation, ("id", "night_of", "asked_at", "state", "attempts", "next_at", "error", "ended_at")
    ),
    "changes": Section(
        Change,
        ("id", "consolidation_id", "number", "kind", "memory_id", "before", "settled", "undone_at"),
        shapes={"before": shapes.OBJECT},
    ),
    "change_others": Section(
        Change.others.through, ("id", "change_id", "memory_id"), way="change__companion", is_numbered=True
    ),
    "retractions": Section(Retraction, ("id", "memory_id", "reply_id", "slot", "made_at"), is_numbered=True),
    "forgotten": Section(
        Forgotten,
        ("id", "salt", "statements", "at"),
        plain={"statements": shapes.DIGESTS},
    ),
    "forget_proposals": Section(
        ForgetProposal, ("id", "reply_id", "subject", "near", "state", "made_at", "ended_at")
    ),
    "card": Section(
        Card,
        ("content", "sha256", "assets_id", "created_at"),
        most=1,
        plain={"content": shapes.CARD},
    ),
    "character_versions": Section(
        CharacterVersion,
        ("id", "number", "texts", "changed", "changed_by", "changed_at", "size"),
        most=MAX_VERSIONS,
        plain={"texts": shapes.check_character, "changed": shapes.check_character_fields},
    ),
    "lorebooks": Section(
        Lorebook,
        (
            *("id", "name", "is_enabled", "scan_depth", "token_budget", "is_recursive", "data"),
            "created_at",
        ),
        most=100,
        plain={"data": shapes.OBJECT},
    ),
    "lore_entries": Section(
        LoreEntry,
        ("id", "lorebook_id", "place", "data"),
        way="lorebook__companion",
        plain={"data": shapes.check_lore_entry},
    ),
    "lore_firings": Section(
        LoreFiring,
        ("entry_id", "message_id"),
        only=models.Q(entry__lorebook__companion=models.F("companion")),  # not those of the user's own books
    ),
    "portrait": Section(
        Portrait,
        ("seed", "chosen"),
        most=1,
        plain={"chosen": shapes.check_features},
    ),
    "pictures": Section(Picture, ("emotion", "file_id"), most=20),
    "files": FILES,
    "journal": JOURNAL,
}
# The tables that the journal covers; the columns of those whose rows it only updates, and those whose rows fall asleep
# instead of being moved into the journal.
JOURNALED = (
    *("companion", "sessions", "messages", "inner_states", "timers", "memories", "pursuits", "threads"),
    *("diary", "revisions", "slots", "slot_sources", "blocks", "block_sources", "changes"),
    *("change_others", "retractions"),
)
ONLY_CHANGED = {"companion": {"understood_until"}, "messages": {"session_id", "is_learnt"}}
SLEEPING = ("sessions", "timers", "memories")

# Every other table that refers to a companion, and why it is not archived.
NOT_ARCHIVED = {
    "companions.Prompt": "prompts as sent, made from what is archived; kept for only 30 days",
    "companions.Closing": "work in progress; the session stays open, and is closed by the Kith that restores it",
    "companions.Comparison": "an open decision of the user's about two models of this Kith",
    "companions.ComparedExchange": "answers of a comparison, which are no part of the conversation",
    "companions.Delivery": "through which of the user's addresses a message was delivered",
    "companions.MessageWords": "the search index for messages, rebuilt by the database",
    "companions.Job": "the progress of requested work",
    "companions.PastImport": "the record of an import, which can then no longer be undone; its messages are archived",
    "companions.GalleryCharacter": "what was published of the companion, which belongs to the account",
    "companions.ArchiveUpload": "the uploaded archive that the companion was restored from",
    "memory.Embedding": "vectors, computed again by the periodic sweep",
    "accounts.ModelCall": "usage, which is counted for the account and not for the companion",
    "accounts.SoundCall": "usage of speech and transcription, likewise",
    "voice.Speech": "sound, which is synthesised again from the texts",
    "voice.Spoken": "which sentences that sound belongs to",
}
# Columns that are left out although their rows are archived, and what they hold after a restore.
NOT_CARRIED = {
    "companion_id": "the restored companion",
    "user_id": "the user who restores it",
    "call_id": "empty: the call belongs to the other account",
    "entry": "what recall reads, computed again from the text",
    "job_id": "empty: jobs are not archived",
    "key": "a new place in the storage",
    "left_out": "empty: what nearly came to mind is for operators of the Kith where it happened",
    "missed_at": "the time of the restore, if the content is missing from the archive",
    "prompt": "empty: prompts as sent are kept for only 30 days",
    "scrubbed_at": "empty: nothing of the restored companion has been deleted yet",
    "draft": "empty: work in progress starts again",
    "is_stop_asked": "false",
    "lease_by": "empty",
    "lease_at": "empty",
}


def register(name: str, section: Section) -> None:
    """Add a section for a table of a package above this one."""
    SECTIONS[name] = section

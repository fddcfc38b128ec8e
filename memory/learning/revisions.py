"""What a companion thinks of itself, and what it knows of its user: texts in revisions, the highest of which holds.

Whoever writes holds the companion meanwhile, so that no two revisions have one number.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.learning.answers import Edit, Sentence
from memory.learning.evidence import without_echoes
from memory.learning.grounding import grounded
from memory.learning.talk import Talk
from memory.models import Revision
from memory.models.revision import MAX_SENTENCES, SENTENCE_CHARACTERS
from text.strings import folded, shorten

Sentences = Sequence[Mapping[str, Any]]


def current(companion_id: UUID, about: str) -> Revision | None:
    """Return the revision that holds; None where nothing has been written yet."""
    return Revision.objects.of(companion_id, about).first()


def revise(
    companion_id: UUID,
    about: str,
    sentences: Sentences,
    by: Revision.By,
    now: datetime,
    *,
    session_id: UUID | None = None,
    call_id: int | None = None,
    is_stale: bool = False,
) -> Revision:
    """Write the revision that holds from now on: a new one, or the one before where its sentences are the same.

    `sentences` are [{"text", "sources": ids of messages}]. Whoever gives them, the first 20 are kept, and of each 400
    characters: all of them stand in every prompt.
    """
    before = current(companion_id, about)
    sentences = [
        {**sentence, "text": shorten(sentence["text"], SENTENCE_CHARACTERS)}
        for sentence in sentences[:MAX_SENTENCES]
    ]
    texts = [sentence["text"] for sentence in sentences]
    if before and [sentence["text"] for sentence in before.sentences] == texts:
        return before
    return Revision.objects.create(
        companion_id=companion_id,
        about=about,
        number=before.number + 1 if before else 1,
        sentences=sentences,
        by=by,
        session_id=session_id,
        call_id=call_id,
        is_stale=is_stale,
        made_at=now,
    )


def apply_edits(
    earlier: Sentences, edits: Sequence[Edit], talk: Talk, names: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the earlier sentences as the edits leave them: what is not named, and what stands on nothing, stays.

    A sentence is dropped only where a line stands behind that. Beyond twenty none is added.
    """
    kept: dict[int, dict[str, Any] | None] = {n: dict(one) for n, one in enumerate(earlier, start=1)}
    added: list[dict[str, Any]] = []
    for edit in edits:
        before = kept.get(edit.number or 0)
        if edit.do == "drop":
            if before and without_echoes([_as_sentence(edit)], talk, names.values())[0].sources:
                kept[edit.number or 0] = None
        elif edit.do == "change" and before:
            changed = _ground(edit, talk, earlier, names)
            kept[edit.number or 0] = changed[0] if changed else before
        elif edit.do in {"add", "change"}:
            added += _ground(edit, talk, [], names)
    left = [sentence for sentence in kept.values() if sentence]
    texts = {folded(sentence["text"]) for sentence in left}
    new = [sentence for sentence in added if folded(sentence["text"]) not in texts]
    return [*left, *new][:MAX_SENTENCES]


def _ground(edit: Edit, talk: Talk, earlier: Sentences, names: Mapping[str, str]) -> list[dict[str, Any]]:
    sentences = without_echoes([_as_sentence(edit)], talk, names.values())
    return grounded(sentences, talk, earlier, names)


def _as_sentence(edit: Edit) -> Sentence:
    return Sentence(text=edit.text or "…", sources=edit.sources, keeps=edit.number)


def rewrite(companion_id: UUID, about: str, texts: Sequence[str], now: datetime) -> Revision:
    """Write the revision as the user has it; a sentence that stays as it was keeps its sources."""
    before = current(companion_id, about)
    known = {sentence["text"]: sentence["sources"] for sentence in before.sentences} if before else {}
    sentences = [{"text": text, "sources": known.get(text, [])} for text in texts]
    return revise(companion_id, about, sentences, Revision.By.USER, now)


def restore(revision: Revision, now: datetime) -> Revision:
    """Write the revision that holds from now on, which says what the given one says.

    It is not stale, if that one is: what was deleted has been taken out of its sentences.
    """
    return revise(revision.companion_id, revision.about, revision.sentences, Revision.By.RESTORED, now)

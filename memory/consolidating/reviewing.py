"""Reviewing goals and ideas: how far they are, by what was told of them."""

from collections.abc import Sequence
from typing import Any

from memory.consolidating.answers import Review
from memory.consolidating.work import Work
from memory.entries import code
from memory.models import Change, Pursuit
from memory.terms import terms

ENDED = Pursuit.Status.DONE, Pursuit.Status.GIVEN_UP
STANDS = "status", "progress", "excitement"


def review(work: Work, answered: Sequence[Review]) -> None:
    """Give each pursuit at most one other standing; ended is only one of which something else that was shown tells.

    All that were shown count as looked at.
    """
    before = {one.pk: _stands(one) for one in work.pursuits}
    for one in answered:
        pursuit = work.pursuit(one.of)
        if pursuit is None or pursuit.pk not in before:
            continue
        wanted = {**_stands(pursuit), **one.model_dump(include={*STANDS}, exclude_none=True)}
        wanted["progress"] = 100 if wanted["status"] == Pursuit.Status.DONE else wanted["progress"]
        if wanted["status"] not in ENDED or _is_told_of(work, pursuit):
            _change(work, pursuit, before.pop(pursuit.pk), wanted)
    shown = [one.pk for one in work.pursuits]
    Pursuit.objects.filter(companion_id=work.night.companion_id, pk__in=shown).update(reviewed_at=work.now)


def _stands(pursuit: Pursuit) -> dict[str, Any]:
    return {name: getattr(pursuit, name) for name in STANDS}


def _change(work: Work, pursuit: Pursuit, before: dict[str, Any], wanted: dict[str, Any]) -> None:
    if wanted == before:
        return
    for name, value in wanted.items():
        setattr(pursuit, name, value)
    if any(wanted[name] != before[name] for name in ("status", "progress")):
        pursuit.moved_at = work.now
    pursuit.save(update_fields=[*STANDS, "moved_at"])
    reviewed_at = pursuit.reviewed_at.isoformat() if pursuit.reviewed_at else None
    told = {**before, "reviewed_at": reviewed_at, "became": wanted}
    work.note(Change.Kind.REVIEWED, pursuit.memory, [], told)


def _is_told_of(work: Work, pursuit: Pursuit) -> bool:
    """Whether another memory that was shown shares a term with it that is no name."""
    names = {code(term) for name in work.names.values() for term in terms(name)}
    own = {*map(code, terms(pursuit.memory.text))} - names
    others = (one.text for one in work.memories if one.pk != pursuit.memory_id)
    return any(own & {*map(code, terms(text))} for text in others)

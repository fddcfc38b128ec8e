"""What a lived person's companion has kept, day by day, counted and checked."""

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Sum

from accounts.models import ModelCall
from bench.ten_days.checking import Source, Unfounded, unfounded
from bench.ten_days.living import work_again
from companions.models import Companion, Message
from memory.models import Change, DiaryEntry, Learning, Memory, Pursuit, Revision


@dataclass(frozen=True)
class Lived:
    """What came of a person's days."""

    sessions: int
    open_sessions: int
    entries: int
    self_revisions: int
    profile_revisions: int
    is_revised_once_a_day: bool
    sentences: int
    memories: int
    calls: int
    tokens_in: int
    tokens_out: int
    user_messages: int
    unfounded: list[Unfounded]
    is_same_again: bool

    def is_right(self, days: int) -> bool:
        """Whether each day is a closed session with an entry, revised at most once, and all stands on what was said."""
        is_whole = self.sessions == self.entries == days and not self.open_sessions
        return is_whole and self.is_revised_once_a_day and not self.unfounded and self.is_same_again


def look(companion: Companion) -> Lived:
    """Count and check all that the companion has kept, and run every job again."""
    revisions = list(Revision.objects.filter(companion=companion))
    learnt = Memory.objects.filter(companion=companion).exclude(kind="said").exclude(kind="diary")
    sentences = [one for entry in DiaryEntry.objects.filter(companion=companion) for one in entry.sentences]
    sentences += [one for revision in revisions for one in revision.sentences]
    sentences += [
        {"text": one.text, "sources": [source.pk for source in one.sources.all()]} for one in learnt
    ]
    names = list(companion.names.values())
    calls = ModelCall.objects.filter(companion=companion, purpose__in=["learning", "closing"])
    tokens = calls.aggregate(sent=Sum("prompt_tokens"), received=Sum("completion_tokens"))
    days = Counter((one.about, one.made_at.date()) for one in revisions)
    return Lived(
        sessions=companion.sessions.exclude(ended_at=None).count(),
        open_sessions=companion.sessions.filter(ended_at=None).count(),
        entries=DiaryEntry.objects.filter(companion=companion).count(),
        self_revisions=sum(one.about == Revision.About.SELF_CONCEPT for one in revisions),
        profile_revisions=sum(one.about == Revision.About.USER_PROFILE for one in revisions),
        is_revised_once_a_day=all(count == 1 for count in days.values()),
        sentences=len(sentences),
        memories=learnt.count(),
        calls=calls.count(),
        tokens_in=tokens["sent"] or 0,
        tokens_out=tokens["received"] or 0,
        user_messages=companion.messages.filter(role="user").count(),
        unfounded=unfounded(sentences, _sources(companion), names),
        is_same_again=_is_same_again(companion),
    )


def _sources(companion: Companion) -> dict[str, Source]:
    zone = companion.user.zone
    return {
        str(one.pk): Source(one.author, one.text, one.said_at.astimezone(zone).date().isoformat())
        for one in Message.objects.filter(companion=companion)
    }


def _is_same_again(companion: Companion) -> bool:
    """Whether every job, run again, changes nothing at all and asks no model."""
    before = _rows(companion)
    latest = companion.messages.latest("said_at").said_at
    work_again(companion, latest + timedelta(days=2))
    return _rows(companion) == before


def _rows(companion: Companion) -> list[Any]:
    """Every row of what is kept, as it stands."""
    models = (DiaryEntry, Revision, Memory, Learning, Pursuit, Change, Message, ModelCall)
    rows: list[Any] = [
        list(model._default_manager.filter(companion=companion).order_by("pk").values()) for model in models
    ]
    return [*rows, list(companion.sessions.order_by("pk").values()), list(companion.closings.values())]

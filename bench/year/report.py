"""The tables of a lived year: what is kept, how it grew, what was stopped, and what it cost."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from django.db.models import Count, Sum

from accounts.models import ModelCall
from bench.recall.tables import Row, table
from bench.year.checking import Wrong, wrong
from bench.year.looking import kept_by, learnt_by, outcomes, said_in
from companions.models import Companion
from memory.models import Change, Memory, Recalled

LASTING = (
    "fact",
    "preference",
    "relationship",
)  # of these there is an end in this life; new events come every day
MOST_CALLS = 1.5  # a user's message, the answer among them
MOST_SHOWN = 8


def report(companion: Companion, days: int) -> bool:
    """Print it all; whether it is as it should be."""
    messages = companion.messages.filter(role="user").count()
    said = said_in(companion)
    given = sum(bool(one.given) for one in said.values())
    print(f"{days} days, {messages:,} messages of the person, {companion.sessions.count()} sessions.")
    print(f"{given:,} of the answers were given recalled memories, {_recalled(companion):,} in all.\n")
    print(table(["learnt", "ever", "open", "replaced", "taken back", "evidence"], _kinds(companion)), "\n")
    print(
        table(["by the end of", "learnt", "of it lasting", "open", "of it lasting"], _months(companion)), "\n"
    )
    print(_told(outcomes(companion)), _merged(companion), sep="\n")
    found = wrong(dict.fromkeys(kept_by(companion)), said)
    _show(found)
    return _calls(companion, messages) and not found


def _recalled(companion: Companion) -> int:
    return Recalled.objects.of(companion.pk).exclude(recall__reply__answer=None).count()


def _kinds(companion: Companion) -> list[Row]:
    rows: list[Row] = []
    for kind in Memory.Kind.values:
        every = learnt_by(companion).filter(kind=kind)
        closed = every.exclude(closed_at=None)
        taken_back = closed.filter(replaced_by=None).count()
        counts = [every.count(), every.open().count(), closed.count() - taken_back, taken_back]
        evidence = every.open().aggregate(all=Sum("evidence"))["all"] or 0
        if counts[0]:
            rows.append([kind, *(f"{count:,}" for count in (*counts, evidence))])
    return rows


def _months(companion: Companion) -> list[Row]:
    """How many there were by each month's end."""
    every = learnt_by(companion)
    ends = [one.replace(day=1) for one in every.datetimes("learnt_at", "month")]
    rows: list[Row] = []
    for begins in ends:
        end = _next_month(begins)
        learnt = every.filter(learnt_at__lt=end)
        still = learnt.as_of(end)
        counts = [one.count() for many in (learnt, still) for one in (many, many.filter(kind__in=LASTING))]
        rows.append([f"{begins:%Y-%m}", *(f"{count:,}" for count in counts)])
    return rows


def _next_month(begins: datetime) -> datetime:
    return begins.replace(year=begins.year + begins.month // 12, month=begins.month % 12 + 1)


def _told(found: Counter[str]) -> str:
    return "Verdicts: " + ", ".join(f"{name} {count:,}" for name, count in found.most_common())


def _merged(companion: Companion) -> str:
    changes = Change.objects.filter(companion=companion).values_list("kind").annotate(count=Count("pk"))
    return "Nights: " + (
        ", ".join(f"{kind} {count:,}" for kind, count in changes.order_by("kind")) or "nothing"
    )


def _show(found: Sequence[Wrong]) -> None:
    print(f"Kept from a recall, or counted without being told: {len(found)}\n")
    for one in found[:MOST_SHOWN]:
        print(f"    {one.kept.what}: {one.why}: {one.kept.text[:160]}")


def _calls(companion: Companion, messages: int) -> bool:
    """Print the calls by purpose; whether they are few enough."""
    calls = ModelCall.objects.filter(companion=companion).exclude(purpose=ModelCall.Purpose.EMBEDDING)
    rows = [
        (purpose, count, sent, received)
        for purpose, count, sent, received in calls.order_by("purpose")
        .values_list("purpose")
        .annotate(count=Count("pk"), sent=Sum("prompt_tokens"), received=Sum("completion_tokens"))
    ]
    total = ("in all", *(sum(row[n] for row in rows) for n in (1, 2, 3)))
    head = ["per message of the person", "calls", "tokens sent", "tokens received"]
    shown = [
        [row[0], f"{row[1] / messages:.3f}", *(f"{n / messages:,.0f}" for n in row[2:])]
        for row in [*rows, total]
    ]
    print(table(head, shown))
    embeddings = ModelCall.objects.filter(companion=companion, purpose=ModelCall.Purpose.EMBEDDING).count()
    print(f"Embedding apart: {embeddings / messages:.2f} calls; the built-in embedder would ask nobody.")
    return total[1] / messages <= MOST_CALLS

"""The lived year as it lies in the tables, in plain data to be checked and counted."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from companions.models import Companion, Message
from memory.models import DiaryEntry, Learning, Memory, Recalled, Revision
from memory.models.memory import MemoryQuerySet
from tests.companions.sessions.echoes.sources import Kept, Said

UNLEARNT = ("said", "diary", "gist")


def said_in(companion: Companion) -> dict[str, Said]:
    """Every message by its id; a reply's with what it was given to remember."""
    given: dict[str, list[str]] = defaultdict(list)
    found = Recalled.objects.of(companion.pk).exclude(recall__reply__answer=None)
    for id, text in found.values_list("recall__reply__answer", "memory__text"):
        given[str(id)].append(text)
    return {
        str(one.pk): Said(one.role == "user", one.text, tuple(given[str(one.pk)]))
        for one in Message.objects.filter(companion=companion)
    }


def kept_by(companion: Companion) -> Iterator[Kept]:
    """Every learnt memory, closed ones too, and every sentence of the diary, the self-concept and the profile."""
    for memory in learnt_by(companion).prefetch_related("sources"):
        sources = tuple(str(one.pk) for one in memory.sources.all())
        quotes = tuple((one["message"], one["text"]) for one in memory.quotes)
        if memory.kind == "insight":  # drawn from memories, it has no quotes of its own
            yield Kept("insight", memory.text, sources)
        else:
            yield Kept(memory.kind, memory.text, sources, quotes, memory.evidence)
    for entry in DiaryEntry.objects.filter(companion=companion):
        yield from (Kept("diary", one["text"], tuple(one["sources"])) for one in entry.sentences)
    for revision in Revision.objects.filter(companion=companion):
        yield from (Kept(revision.about, one["text"], tuple(one["sources"])) for one in revision.sentences)


def learnt_by(companion: Companion) -> MemoryQuerySet:
    """All that was ever learnt."""
    return Memory.objects.of(companion.pk).exclude(kind__in=UNLEARNT)


def outcomes(companion: Companion) -> Counter[str]:
    """What became of the verdicts, and why those were stopped that were."""
    found: Counter[str] = Counter()
    for learning in Learning.objects.filter(companion=companion):
        for one in learning.verdicts:
            found[one["outcome"]] += 1
            if one["outcome"] == "stopped":
                found[f"stopped: {one['reason']}"] += 1
    return found

"""Rows are written together as they would be one by one."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from companions.models import Companion
from memory.models import Memory, Recall, Recalled
from memory.writing import insert

pytestmark = pytest.mark.django_db
NOW = timezone.now()
UPDATED = "ON CONFLICT (recall_id, memory_id) DO UPDATE SET rank = excluded.rank, reasons = excluded.reasons"


def memory(companion: Companion, text: str) -> Memory:
    told = {"text": text, "tags": ["tea", "it's"], "quotes": [{"text": "“100 %s”"}], "entry": b"\x00\x01\xff"}
    return Memory(companion=companion, kind=Memory.Kind.FACT, happened_at=NOW, learnt_at=NOW, **told)


def recall(companion: Companion) -> Recall:
    return Recall(companion=companion, by=Recall.By.API, cue="tea", at=NOW, milliseconds=3)


def test_rows_of_several_models_are_written_in_one_query(
    mira: Companion, django_assert_num_queries: Any
) -> None:
    memories, recalled_by = [memory(mira, "One; two"), memory(mira, "%s\\")], recall(mira)
    found = [
        Recalled(recall=recalled_by, memory=one, rank=n, score=0.5, reasons={"n": n})
        for n, one in enumerate(memories)
    ]
    with django_assert_num_queries(1):
        insert(*memories, recalled_by, *found)
    fields = ("pk", "text", "tags", "quotes", "importance", "replaced_by_id", "happened_at")
    for one, kept in zip(memories, [Memory.objects.get(pk=one.pk) for one in memories], strict=True):
        assert [getattr(one, name) for name in fields] == [getattr(kept, name) for name in fields]
        assert bytes(kept.entry) == one.entry
    assert list(recalled_by.found.values_list("pk", "memory", "reasons")) == [
        (one.pk, one.memory_id, one.reasons) for one in found
    ]
    found[0].rank = 7
    found[0].save()
    assert Recalled.objects.get(pk=found[0].pk).rank == 7


def test_what_is_there_already_is_refused_or_changed_as_asked(mira: Companion) -> None:
    one, recalled_by = memory(mira, "One"), recall(mira)
    insert(one, recalled_by, Recalled(recall=recalled_by, memory=one, rank=1, score=0.5, reasons={}))
    again = Recalled(recall=recalled_by, memory=one, rank=2, score=0.9, reasons={"more": True})
    with pytest.raises(IntegrityError), transaction.atomic():
        insert(again)
    insert(again, conflicts={Recalled: UPDATED})
    kept = recalled_by.found.get()
    assert (kept.pk, kept.rank, kept.score, kept.reasons) == (again.pk, 2, 0.5, {"more": True})

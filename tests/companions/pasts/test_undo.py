"""An import is undone whole: no row and no derived sentence is left of it, and what was there before is as it was."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bench.common.past_files import chatgpt
from companions.models import Branch, Companion, Message, PastImport, Session
from companions.pasts import undo
from companions.pasts.imports import Wanted
from files.contents import DIGITS
from files.models import StoredFile
from files.storage import private
from jobs.lease import LEASE_TIME
from memory.embedding import embed_waiting
from memory.models import Memory
from tests.companions.everywhere import tables_with
from tests.companions.pasts.files import begin, imported
from tests.companions.pasts.test_imports import told
from tests.companions.pasts.test_learning import NIGHT, work
from tests.companions.talking import say
from tests.fixtures import faults

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("rehearsal")]
THEN = datetime(2023, 5, 2, 9, tzinfo=UTC)
NOW = datetime(2024, 1, 5, 12, tzinfo=UTC)
MARKER = "Quindlewick"
FILE = chatgpt(
    [
        (True, f"I moved to {MARKER} with my sister Ana in March.", THEN),
        (False, f"{MARKER}! I will ask you about the trams tomorrow.", THEN + timedelta(minutes=1)),
        (True, f"My dog is called {MARKER} and is 7 years old.", THEN + timedelta(days=2)),
        (False, f"Happy birthday, {MARKER}.", THEN + timedelta(days=2, minutes=1)),
    ],
    {2: [f"I was in {MARKER} again.", "How was it?", f"{MARKER} was cold."]},
)


def before(companion: Companion) -> list[Any]:
    """What there is of the talk, in its order, and what is known."""
    return [
        told(companion),
        list(Session.everywhere.order_by("started_at").values_list("pk", "started_at", "ended_at")),
        sorted(Memory.everywhere.values_list("kind", "text", "happened_at")),
    ]


def test_an_import_that_is_undone_leaves_nothing_of_itself_and_all_else_as_it_was(mira: Companion) -> None:
    say(mira, "I bake bread on Sundays.", "With rye?", at=THEN + timedelta(days=1))
    there = before(mira)
    past = imported(mira, FILE, NOW, Wanted(nightly_tokens=200_000))
    embed_waiting(mira.pk)
    assert work(NIGHT)
    embed_waiting(mira.pk)
    assert {"memory_memory", "memory_diaryentry", "companions_message"} <= tables_with(MARKER).keys()
    assert Memory.objects.exclude(kind__in=["said", "diary"]).filter(text__contains=MARKER).exists()
    undo.begin_undo(past, NIGHT)
    undo.run(past.pk, NIGHT)
    assert tables_with(MARKER) == {}
    assert before(mira) == there
    assert not PastImport.objects.exists()
    assert not any(True for digit in DIGITS for _ in private().contents(StoredFile.Kind.PAST, digit))
    assert not Branch.objects.filter(head__text__contains=MARKER).exists()


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ('DELETE FROM "companions_branch"', 1),
        ('DELETE FROM "companions_message"', 1),
        ('DELETE FROM "companions_pastimport"', 1),
    ],
)
def test_an_undoing_that_is_killed_anywhere_goes_on(mira: Companion, statement: str, number: int) -> None:
    say(mira, "I bake bread on Sundays.", "With rye?", at=THEN + timedelta(days=1))
    there = before(mira)
    past = imported(mira, FILE, NOW)
    undo.begin_undo(past, NOW)
    with faults.killed(faults.begins(statement), number):
        undo.run(past.pk, NOW)
    assert undo.find_due(NOW + LEASE_TIME) == [past.pk]
    undo.run(past.pk, NOW + LEASE_TIME)
    assert before(mira) == there
    assert tables_with(MARKER) == {}


def test_one_that_is_still_coming_in_is_undone_with_its_file(mira: Companion) -> None:
    past = begin(mira, FILE, NOW)
    undo.begin_undo(past, NOW)
    undo.run(past.pk, NOW)
    assert not PastImport.objects.exists()
    assert not StoredFile.objects.exists()
    assert not Message.everywhere.exists()

"""An import is undone whole: no row and no derived sentence is left of it, and what was there before is as it was."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from django.db import connection, transaction

from bench.common.past_files import chatgpt
from companions.branches.operations import choose, fork
from companions.deletion.repetition import delete_again
from companions.models import Branch, Companion, Conversation, Message, PastImport, Session
from companions.models.companion import hold
from companions.pasts import imports, undo
from companions.pasts.imports import Wanted
from files.contents import DIGITS
from files.models import StoredFile
from files.storage import private
from jobs.lease import LEASE_TIME
from memory.core_memory import set_slot
from memory.embedding import embed_waiting
from memory.models import Memory, Slot
from memory.models.core_memory import By
from tests.companions.deletion.test_concurrent_deletion import at
from tests.companions.everywhere import tables_with
from tests.companions.pasts.files import begin, imported
from tests.companions.pasts.test_imports import told
from tests.companions.pasts.test_learning import NIGHT, work
from tests.companions.talking import say
from tests.fixtures import faults
from tests.fixtures.clock import clock_at

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("rehearsal")]
THEN = datetime(2023, 5, 2, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
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


def test_undoing_begins_while_a_batch_is_being_saved(mira: Companion) -> None:
    past = begin(mira, FILE, NOW)
    held, done = Event(), Event()

    def save_a_batch() -> None:
        with transaction.atomic():
            hold(mira.pk)
            held.set()
            done.wait(60)
        connection.close()

    batch = Thread(target=save_a_batch)
    batch.start()
    try:
        assert held.wait(60)
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '2s'")
        undo.begin_undo(past, NOW)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")
        done.set()
        batch.join()
    undo.run(past.pk, clock_at(NOW))
    assert not PastImport.objects.exists()


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
    undo.run(past.pk, clock_at(NIGHT))
    assert tables_with(MARKER) == {}
    assert before(mira) == there
    assert not PastImport.objects.exists()
    assert not any(True for digit in DIGITS for _ in private().contents(StoredFile.Kind.PAST, digit))
    assert not Branch.objects.filter(head__text__contains=MARKER).exists()


def undo_after_restore(past: PastImport, home: Path) -> None:
    said = Message.everywhere.filter(job=past.job_id).values_list("pk", flat=True)
    lines = [f"past {past.pk} {NOW.isoformat()}", *(f"message {id} {NOW.isoformat()}" for id in said)]
    (home / "deletions").write_text("\n".join([*lines, ""]))
    assert delete_again(NOW)["past"] == 1


def undo_now(past: PastImport, _home: Path) -> None:
    undo.begin_undo(past, NOW)
    undo.run(past.pk, clock_at(NOW))


@pytest.mark.parametrize("undo_it", [undo_now, undo_after_restore])
def test_what_each_branch_knew_before_an_import_is_still_its_own_when_that_is_undone(
    mira: Companion, undo_it: Callable[[PastImport, Path], None], tmp_path: Path, settings: Any
) -> None:
    settings.KITH_HOME = tmp_path
    first, *_ = say(mira, "Tea?", "Tea.", "The green one with honey.", at=THEN - timedelta(days=9))
    embed_waiting(mira.pk)
    set_slot(mira.pk, "tea", "green with honey", by=By.COMPANION, now=NOW)
    fork(mira, first.pk, NOW)
    there = Branch.objects.get(companion=mira, left_at__isnull=False)
    here = Branch.objects.exclude(pk=there.pk).get(companion=mira)
    say(mira, "The black one with lemon.", "As you like.", at=THEN - timedelta(days=8))
    set_slot(mira.pk, "tea", "black with lemon", by=By.COMPANION, now=NOW)
    embed_waiting(mira.pk)
    lines = [
        (place % 2 == 0, f"Green or black, with honey or lemon? That was tea {place}.", THEN + HOUR * place)
        for place in range(12)
    ]
    past = imported(mira, chatgpt(lines), NOW)
    embed_waiting(mira.pk)
    undo_it(past, tmp_path)
    for branch, text in (
        (there, "green with honey"),
        (here, "black with lemon"),
        (there, "green with honey"),
    ):
        choose(branch, NOW)
        assert list(Slot.objects.filter(companion=mira).values_list("text", flat=True)) == [text]


def test_what_rests_on_an_import_comes_back_on_no_branch(mira: Companion) -> None:
    first, *_ = say(mira, "I bake bread.", "With rye?", at=THEN - timedelta(days=9))
    past = imported(mira, FILE, NOW)
    embed_waiting(mira.pk)
    [source] = Message.objects.filter(text__contains="7 years old")
    say(mira, "It is good bread.", "It is.", at=NOW - HOUR)
    # In words that are left.
    set_slot(mira.pk, "what", "bread", by=By.COMPANION, now=NOW, source_ids=[source.pk])
    set_slot(mira.pk, "dog", MARKER, by=By.COMPANION, now=NOW)  # nothing says where it comes from
    fork(mira, first.pk, NOW)
    there = Branch.objects.filter(companion=mira, left_at__isnull=False).latest("made_at")
    undo.begin_undo(past, NOW)
    undo.run(past.pk, clock_at(NOW))
    assert tables_with(MARKER) == {}
    choose(there, NOW)
    assert not Slot.objects.filter(companion=mira).exists()


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
        undo.run(past.pk, clock_at(NOW))
    assert imports.find_due(PastImport.State.UNDOING, NOW + LEASE_TIME) == [past.pk]
    undo.run(past.pk, clock_at(NOW + LEASE_TIME))
    assert before(mira) == there
    assert tables_with(MARKER) == {}


def test_one_that_is_still_coming_in_is_undone_with_its_file(mira: Companion) -> None:
    past = begin(mira, FILE, NOW)
    undo.begin_undo(past, NOW)
    undo.run(past.pk, clock_at(NOW))
    assert not PastImport.objects.exists()
    assert not StoredFile.objects.exists()
    assert not Message.everywhere.exists()


def test_an_undoing_that_is_asked_for_as_the_import_ends_is_not_lost(mira: Companion) -> None:
    past = begin(mira, FILE, NOW)
    ends = faults.begins('UPDATE "companions_pastimport" SET "state"')
    with at((ends, 1), lambda: undo.begin_undo(past, NOW)):
        imports.run(past.pk, clock_at(NOW))
    assert PastImport.objects.get().state == PastImport.State.UNDOING


def test_the_chosen_branch_stays_although_it_ended_with_the_import(mira: Companion) -> None:
    first, *_ = say(mira, "I bake bread.", "With rye?", at=THEN - timedelta(days=9))
    fork(mira, first.pk, NOW, "without rye")
    chosen = Conversation.objects.get(companion=mira).branch
    past = imported(mira, FILE, NOW)
    assert chosen is not None
    Branch.objects.filter(pk=chosen.pk).update(head=Message.objects.filter(job=past.job_id).last())
    undo.begin_undo(past, NOW)
    undo.run(past.pk, clock_at(NOW))
    assert Conversation.objects.get(companion=mira).branch == chosen

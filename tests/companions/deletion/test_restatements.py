"""What was written from a fact that nobody said, or from a document, goes with that; what was told elsewhere stays."""

from datetime import timedelta

import pytest

from companions.deletion import forget
from companions.memories.editing import delete_document, give_document, set_private
from companions.models import Companion, Message, Session
from memory.core_memory import set_slot, write_block
from memory.documents.gists import write_gists
from memory.models import Block, Memory, Slot
from memory.models.core_memory import By
from memory.store import keep_fact
from tests.companions.deletion.conftest import MARKER, NOW, say
from tests.companions.everywhere import tables_with

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(days=1)
FACT = f"The locker opens with {MARKER}."


def write(companion: Companion, message: Message) -> None:
    """A word from elsewhere, in all that the companion keeps in mind."""
    keep = {"by": By.COMPANION, "now": LATER}
    set_slot(companion.pk, "locker", f"It is {MARKER}", source_ids=[message.pk], **keep)
    set_slot(companion.pk, MARKER, "Opens it", source_ids=[message.pk], **keep)
    set_slot(companion.pk, "tea", "Green tea with milk", source_ids=[message.pk], **keep)
    write_block(companion.pk, "notes", f"Be kind.\nThe word: {MARKER}\nDrinks tea.", **keep)
    Session.objects.filter(companion=companion, ended_at=None).update(
        summary=f"They spoke of {MARKER}.", summarised_until=LATER, scratch=f"Be brief.\n{MARKER}!"
    )


def left(companion: Companion) -> tuple[list[str], str, str]:
    """Its slots, its block and the summary of its talk, after a look at its notes."""
    session = Session.objects.get(companion=companion, ended_at=None)
    slots = list(Slot.objects.filter(companion=companion).values_list("name", flat=True))
    assert MARKER not in session.scratch
    return slots, Block.objects.get(companion=companion).text, session.summary


CLEAN = (["tea"], "Be kind.\nDrinks tea.", "")


def test_a_forgotten_fact_that_nobody_said_is_nowhere(mira: Companion) -> None:
    message, _ = say(mira, "I like green tea with milk. Which word opens it?", "Let me think.")
    fact = keep_fact(mira.pk, FACT, NOW, NOW)
    write(mira, message)
    forget(fact, LATER)
    assert left(mira) == CLEAN
    assert tables_with(MARKER) == {}


def test_a_private_fact_that_nobody_said_stands_in_nothing_that_is_in_mind(mira: Companion) -> None:
    message, _ = say(mira, "I like green tea with milk. Which word opens it?", "Let me think.")
    fact = keep_fact(mira.pk, FACT, NOW, NOW)
    write(mira, message)
    set_private(fact, True, LATER)
    assert left(mira) == CLEAN


def test_what_the_person_said_as_well_stays(mira: Companion) -> None:
    message, _ = say(mira, f"I like green tea with milk. {MARKER} is a word of mine.", "I see.")
    fact = keep_fact(mira.pk, FACT, NOW, NOW)
    set_slot(mira.pk, "mine", f"A word: {MARKER}", by=By.COMPANION, now=NOW, source_ids=[message.pk])
    set_slot(mira.pk, "theirs", "Milk comes at seven", by=By.USER, now=NOW)
    forget(fact, LATER)
    assert set(Slot.objects.values_list("name", flat=True)) == {"mine", "theirs"}


@pytest.mark.usefixtures("rehearsal")
def test_a_deleted_document_is_in_nothing_that_was_written_from_its_pages(mira: Companion) -> None:
    message, _ = say(mira, "I like green tea with milk. What does the book say?", "Let me look.")
    set_slot(mira.pk, "before", "The river runs by", by=By.COMPANION, now=NOW - timedelta(days=1))
    set_slot(mira.pk, "own", "The river runs by", by=By.USER, now=LATER)
    text = f"They walked along the river with {MARKER} until the lamps were lit. " * 40
    document = give_document(mira, "The river", text, NOW)
    while write_gists(document.pk, NOW):
        pass
    assert Memory.objects.filter(kind="gist").exists()
    write(mira, message)
    delete_document(document, LATER)
    slots, *rest = left(mira)
    assert (set(slots), *rest) == ({"before", "own", "tea"}, *CLEAN[1:])
    assert tables_with(MARKER) == {}

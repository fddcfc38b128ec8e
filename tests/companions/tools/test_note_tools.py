"""Blocks and notes as a companion writes them."""

import pytest

from companions.models import Companion, Session
from companions.replies.context import TurnContext
from companions.tools.subjects.core_memory import MAX_SCRATCH_CHARACTERS
from memory.core_memory import write_block
from memory.models import Block
from memory.models.core_memory import By
from tests.companions.tools.conftest import NOW, turn_of, use

pytestmark = pytest.mark.django_db


@pytest.fixture
def plans(mira: Companion) -> Block:
    return write_block(mira.pk, "plans", "swim", by=By.USER, now=NOW, most_characters=30)


def test_a_line_is_appended_with_its_source(mira: Companion, plans: Block) -> None:
    turn = turn_of(mira, "Let us read on Friday")
    assert use(turn, "block_append", block="plans", text="read on Friday")["full"] == "19 of 30 characters"
    plans.refresh_from_db()
    assert (plans.text, plans.by) == ("swim\nread on Friday", "companion")
    assert list(plans.sources.all()) == [turn.message]


def test_words_are_replaced_or_taken_out(plans: Block, turn: TurnContext) -> None:
    use(turn, "block_replace", block="plans", old="swim", new="run")
    plans.refresh_from_db()
    assert plans.text == "run"
    use(turn, "block_replace", block="plans", old="run")
    plans.refresh_from_db()
    assert plans.text == ""


def test_what_cannot_be_written_is_an_error_that_says_why(
    mira: Companion, plans: Block, turn: TurnContext
) -> None:
    write_block(mira.pk, "rules", "Be kind.", by=By.OPERATOR, now=NOW, is_read_only=True)
    assert "read-only" in use(turn, "block_append", block="rules", text="x")["error"]
    assert "plans" in use(turn, "block_append", block="plan", text="x")["error"]
    assert "room for 30" in use(turn, "block_append", block="plans", text="x" * 31)["error"]
    assert "0 times" in use(turn, "block_replace", block="plans", old="walk", new="x")["error"]
    assert {one.text for one in Block.objects.all()} == {"swim", "Be kind."}


def test_notes_are_kept_for_the_session_and_the_oldest_fall_out(turn: TurnContext) -> None:
    for n in range(50):
        use(turn, "note", text=f"{n}\n" + "x" * 95)
    scratch = Session.objects.get(pk=turn.message.session_id).scratch
    assert len(scratch) <= MAX_SCRATCH_CHARACTERS
    lines = scratch.splitlines()
    assert lines[-1].startswith("49 xx")
    assert lines[0].startswith("10 xx")
    assert len(lines) == 40


def test_what_is_written_down_holds_no_emotion_tag(turn: TurnContext) -> None:
    use(turn, "note", text="<emotion happy 0.7> She passed!")
    assert "is empty" in use(turn, "note", text="<emotion sad 0.2>")["error"]
    assert Session.objects.get(pk=turn.message.session_id).scratch == "She passed!"


def test_notes_end_with_the_session(mira: Companion, turn: TurnContext) -> None:
    use(turn, "note", text="tired")
    turn.reply.delete()
    Session.objects.filter(companion=mira).update(ended_at=NOW)
    assert turn_of(mira).pinned.scratch == ""

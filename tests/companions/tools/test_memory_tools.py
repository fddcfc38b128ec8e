"""Remember and correct: what is learnt is closed and linked, never deleted; what was said is not touched."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from companions.models import Companion
from companions.replies.context import TurnContext
from memory.core_memory import set_slot
from memory.models import Memory, Slot, Thread
from memory.models.core_memory import By
from memory.store import keep_fact
from tests.companions.tools.conftest import NOW, end, log, turn_of, use

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]
# Where Alice lives, it may be tomorrow.
IN_THREE_DAYS = NOW.astimezone(ZoneInfo("Europe/Berlin")) + timedelta(days=3)


def fact(companion: Companion, text: str, kind: str = "fact") -> Memory:
    memory = keep_fact(companion.pk, text, NOW - timedelta(days=9), NOW - timedelta(days=9))
    Memory.objects.filter(pk=memory.pk).update(kind=kind)
    return memory


def test_a_fact_is_kept_with_the_message_it_comes_from(mira: Companion) -> None:
    turn = turn_of(mira, "Remember that I like tea")
    assert use(turn, "remember", text="Alice likes tea.") == {"remembered": "Alice likes tea."}
    kept = Memory.objects.get(kind="fact")
    assert list(kept.sources.all()) == [turn.message]


def test_a_kept_day_to_come_is_open_and_moves_with_its_correction(mira: Companion) -> None:
    first, second = (f"{IN_THREE_DAYS + timedelta(days=days):%-d %B %Y}" for days in range(2))
    turn = turn_of(mira, f"Remember my exam on {first}. Or no: the exam is on {second}!")
    use(turn, "remember", text=f"Alice's exam is on {first}.")
    use(turn, "remember", old=f"exam {first}", text=f"Alice's exam is on {second}.")
    days = Thread.objects.order_by("due_on").values_list("due_on", "memory__closed_at")
    due_on = IN_THREE_DAYS.date()
    assert list(days) == [(due_on, NOW), (due_on + timedelta(days=1), None)]


def test_the_same_call_run_again_keeps_the_fact_once(mira: Companion) -> None:
    turn = turn_of(mira, "Remember that I like tea")
    first = use(turn, "remember", text="Alice likes tea.")
    assert use(turn, "remember", text="Alice likes tea.") == first
    kept = Memory.objects.get(kind="fact")
    Memory.objects.filter(pk=kept.pk).update(closed_at=NOW)
    use(turn, "remember", text="Alice likes tea.")  # what holds no more is no answer
    end(turn)
    use(turn_of(mira, "Once more: I like tea"), "remember", text="Alice likes tea.")  # told again
    assert Memory.objects.filter(kind="fact", text="Alice likes tea.").count() == 2


def test_one_fact_in_several_spellings_is_kept_once_with_all_messages_that_tell_it(mira: Companion) -> None:
    for said, text in (
        ("我的生日是 11 月 24 日", "Alice 的生日是 11 月 24 日。"),
        ("再说一遍，生日是11月24日", "Alice的生日是11月24日"),
        ("生日 11月24日，别忘了", "alice的生日是１１月２４日！"),
    ):
        turn = turn_of(mira, said)
        assert use(turn, "remember", text=text) == {"remembered": "Alice 的生日是 11 月 24 日。"}
        end(turn)
    use(turn_of(mira, "不是 11月25日"), "remember", text="Alice的生日是11月25日")
    kept = Memory.objects.filter(kind="fact")
    assert kept.count() == 2
    assert kept.get(text="Alice 的生日是 11 月 24 日。").sources.count() == 3


@pytest.mark.parametrize(
    ("text", "other", "is_same"),
    [
        ("Ana's cat is old.", "Ana’s  cat is OLD!", True),
        ("Ana's cat is old", "Ana's cat is old, too", False),
        ("She has 11 cats.", "She has 1 cat.", False),
        ("她不喝茶。", "她喝茶。", False),
    ],
)
def test_spelling_is_no_difference_and_a_word_is(
    mira: Companion, text: str, other: str, is_same: bool
) -> None:
    keep_fact(mira.pk, text, NOW, NOW)
    assert Memory.objects.of(mira.pk).same_text(other).exists() is is_same


def test_a_slot_is_kept_with_the_messages_it_comes_from(mira: Companion) -> None:
    first = turn_of(mira, "My sister is called Marlene")
    turn_after = first
    use(turn_after, "remember", text="Marlene is the sister", slot="sister")
    slot = Slot.objects.get(companion=mira)
    assert (slot.name, slot.text, slot.by) == ("sister", "Marlene is the sister", "companion")
    assert list(slot.sources.all()) == [first.message]
    assert not Memory.objects.filter(kind="fact").exists()


@pytest.mark.parametrize(
    ("slot", "text", "says"), [("a\nb", "x", "control"), ("s", "x" * 201, "200"), ("n" * 61, "x", "60")]
)
def test_a_slot_that_cannot_be_is_an_error_and_changes_nothing(
    turn: TurnContext, slot: str, text: str, says: str
) -> None:
    set_slot(turn.companion.pk, "other", "before", by=By.USER, now=NOW)
    assert says in use(turn, "remember", text=text, slot=slot)["error"]
    assert [one.text for one in Slot.objects.all()] == ["before"]
    assert not Memory.objects.exclude(kind="said").exists()


def test_a_revised_slot_leaves_its_past_behind(mira: Companion) -> None:
    turn = turn_of(mira, "I live in Lisbon now")
    set_slot(mira.pk, "city", "Porto", by=By.USER, now=NOW - timedelta(days=3))
    assert use(turn, "remember", slot="city", text="Lisbon")["remembered"] == "Lisbon"
    past = Memory.objects.get(kind="fact")
    assert (past.text, past.closed_at) == ("city: Porto", NOW)


@pytest.mark.parametrize("slot", ["", "diets"])
def test_what_is_corrected_by_its_old_words_is_in_no_slot_any_more(mira: Companion, slot: str) -> None:
    turn = turn_of(mira, "No, not my mother: my father is allergic to peanuts!")
    set_slot(mira.pk, "mother", "Her mother is allergic to peanuts.", by=By.COMPANION, now=NOW)
    other = fact(mira, "Her sister is allergic to peanuts.")
    old, new = "mother is allergic to peanuts", "Her father is allergic to peanuts."
    assert "error" not in use(turn, "remember", old=old, text=new, slot=slot)
    assert dict(Slot.objects.values_list("name", "text")) == {slot or "mother": new}
    past = Memory.objects.exclude(pk=other.pk).get(kind="fact")
    assert past.text == "mother: Her mother is allergic to peanuts."
    assert Memory.objects.open().get(kind="fact") == other


def test_of_several_slots_with_the_old_words_none_is_replaced(mira: Companion) -> None:
    turn = turn_of(mira, "I don't live in Porto any more, I live in Lisbon now")
    for name, text in (("home", "Porto, by the river"), ("office", "Porto, in the centre")):
        set_slot(mira.pk, name, text, by=By.COMPANION, now=NOW)
    assert "error" in use(turn, "remember", old="Porto", text="Lisbon")
    assert [slot.text for slot in Slot.objects.order_by("name")] == [
        "Porto, by the river",
        "Porto, in the centre",
    ]


def test_a_revised_memory_is_closed_kept_and_linked(mira: Companion) -> None:
    turn = turn_of(mira, "I like black tea now")
    old, other = fact(mira, "Alice likes green tea.", "preference"), fact(mira, "Alice has a cat.")
    assert "error" not in use(turn, "remember", old="green tea", text="Alice likes black tea.")
    old.refresh_from_db()
    other.refresh_from_db()
    new = old.replaced_by
    assert new
    assert (old.closed_at, new.text, new.kind, new.closed_at) == (
        NOW,
        "Alice likes black tea.",
        "preference",
        None,
    )
    assert list(new.sources.all()) == [turn.message]
    assert other.closed_at is None


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("revise", {"memory": "green tea", "text": "Alice likes black tea."}),
        ("recall", {"cue": "green tea"}),
        ("set_timer", {"schedule": "5min", "note": "tea"}),
        ("look_up", {"question": "tea"}),
        ("forget", {"what": "green tea"}),
    ],
)
def test_a_call_copied_from_an_older_history_is_understood(
    mira: Companion, name: str, arguments: dict[str, str]
) -> None:
    fact(mira, "Alice likes green tea.")
    turn = turn_of(mira, "I like black tea now. Please forget the green tea.")
    assert "error" not in use(turn, name, **arguments)


def test_what_was_said_cannot_be_revised(mira: Companion) -> None:
    log(mira, "I live in Porto.")
    given = use(turn_of(mira), "remember", old="I live in Porto.", text="I live in Lisbon.")
    assert "has these words" in given["error"]
    assert not Memory.objects.exclude(closed_at=None).exists()


def test_words_that_fit_several_change_none(mira: Companion) -> None:
    turn = turn_of(mira, "I like white tea now, no green tea")
    fact(mira, "Alice likes green tea.")
    fact(mira, "Alice likes black tea.")
    error = use(turn, "remember", old="likes tea", text="Alice likes white tea.")["error"]
    assert "green" in error
    assert "black" in error
    assert not Memory.objects.exclude(closed_at=None).exists()
    use(turn, "remember", old="Alice likes green tea.", text="Alice likes white tea.")
    assert [one.text for one in Memory.objects.exclude(closed_at=None)] == ["Alice likes green tea."]


def test_private_and_anothers_memories_are_not_found(
    mira: Companion, tian: Companion, turn: TurnContext
) -> None:
    hidden = fact(mira, "Alice likes tea.")
    Memory.objects.filter(pk=hidden.pk).update(is_private=True)
    fact(tian, "Bob likes tea.")
    assert "error" in use(turn, "remember", old="likes tea", text="Alice likes coffee.")
    assert not Memory.objects.exclude(closed_at=None).exists()


@pytest.mark.parametrize(
    ("said", "text", "slot"),
    [
        ("How are you?", "Alice has a husband called Tom.", ""),
        ("How are you?", "Alice has three children.", ""),
        ("How are you?", "He is called Tom.", "husband"),
        ("I like tea.", "…", ""),
    ],
)
def test_what_nobody_told_is_not_kept(mira: Companion, said: str, text: str, slot: str) -> None:
    turn = turn_of(mira, said)
    assert "error" in use(turn, "remember", text=text, slot=slot)
    assert not Memory.objects.exclude(kind="said").exists()
    assert not Slot.objects.exists()


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("My exam is in three days, remember that.", f"Alice has an exam on {IN_THREE_DAYS:%d %B %Y}."),
        ("记住，我对核桃过敏，弟弟叫小明。", "Alice对核桃过敏，她的弟弟叫小明。"),
        ("Remember: my flat is number 12, Oak Street, and I pay nine hundred.", "Alice pays 900 for 12 Oak Street."),
        ("remember my sister anna is a nurse", "Alice's sister Anna is a nurse."),
        ("Merk dir: Mein Bruder heißt Jan.", "Alice hat einen Bruder namens Jan."),
        ("记住，我星期五有考试", "我星期五有考试"),  # their own words, which a feeling or a diary must not repeat
        ("Remember: I teach chemistry in Porto.", "I teach chemistry in Porto."),
    ],
)  # fmt: skip
def test_what_was_told_is_kept_in_these_or_other_words(mira: Companion, said: str, text: str) -> None:
    assert use(turn_of(mira, said), "remember", text=text) == {"remembered": text}

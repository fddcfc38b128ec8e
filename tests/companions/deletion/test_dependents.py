"""What a companion's life has made of a message goes with it: timers, wakings, inner states, pages, reminders."""

import json
from datetime import timedelta
from typing import Any

import pytest

from companions.deletion import delete_message, delete_rehearsed, forget
from companions.life import inner_state, reflection
from companions.life.inner_state import Feeling
from companions.life.timers import timers
from companions.life.wakings.waking import run
from companions.memories.editing import set_private
from companions.models import Companion, Delivery, InnerState, Message, Prompt, Session, Timer, Waking
from companions.prompting.pinned_context import load_pinned_context, render_inner_state
from memory.core_memory import set_slot
from memory.emotion import Emotion
from memory.models import DiaryEntry, Memory, Pursuit, Slot
from memory.models.core_memory import By
from memory.store import keep_fact
from tests.companions.deletion.conftest import MARKER, NOW, SECRET, learnt, say
from tests.companions.everywhere import tables_with
from tests.companions.life.waking import as_it_is, calling, let_speak, unprompted
from tests.fixtures.clock import clock_at
from tests.fixtures.rehearsal import RehearsalServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira", "rehearsal")]
LATER = NOW + timedelta(hours=1)
NOTE = f"open the locker with {MARKER}"


def asked_for(companion: Companion, message: Message, note: str = NOTE, **fields: Any) -> Timer:
    """The timer that was set in answer to the message, due an hour later."""
    given = {"by": Timer.By.COMPANION, "is_asked_for": True, "message": message, **fields}
    return timers.set_timer(companion, "1h", note, now=NOW, **given)


PLAIN = "quillwort"  # a word that names nobody: it may be written by itself


def woken(companion: Companion, timer: Timer | None = None, **fields: Any) -> Waking:
    """A waking of the timer, or of another one that nobody asked for; it has not run."""
    timer = timer or timers.set_timer(
        companion, "1h", "look around", by=Timer.By.USER, now=NOW, is_asked_for=False
    )
    given = {"timer": timer, "note": timer.note, "is_asked_for": timer.is_asked_for, **fields}
    given = {"look_at": LATER, **given}
    return Waking.objects.create(companion=companion, origin="timer", due_at=LATER, created_at=LATER, **given)


def ran(waking: Waking) -> Waking:
    run(waking.pk, clock_at(LATER))
    return as_it_is(waking.pk)


def wordless(waking: Waking) -> bool:
    kept = (waking.note, waking.thought, waking.text, waking.steps, waking.prompt, waking.shown)
    return not any(kept)


def test_a_timer_goes_without_its_words_and_never_comes_due(mira: Companion, said: list[Message]) -> None:
    timer = asked_for(mira, said[0])
    other = asked_for(mira, said[2], "drink tea")
    delete_message(said[0], NOW)
    timer.refresh_from_db()
    assert (timer.state, timer.note, timer.ended_at) == ("cancelled", "", NOW)
    assert set(timers.get_planned(mira.pk).filter(name="")) == {other}
    assert tables_with(MARKER) == {}


def test_a_reminder_goes_with_the_message_that_asked_for_it(mira: Companion, said: list[Message]) -> None:
    mira.life.by_email = True
    mira.life.save()
    waking = ran(woken(mira, asked_for(mira, said[0])))
    (text,) = unprompted(mira)
    assert MARKER in text
    assert {"companions_waking", "companions_timer", "companions_message"} <= tables_with(MARKER).keys()
    assert Delivery.objects.filter(companion=mira).exists()
    delete_message(said[0], LATER)
    assert tables_with(MARKER) == {}
    assert unprompted(mira) == []
    assert not Delivery.objects.exists()
    waking.refresh_from_db()
    assert (waking.state, waking.outcome) == ("done", "spoke")
    assert wordless(waking)
    mira.conversation.refresh_from_db()
    assert mira.conversation.head_id == said[-1].pk


def test_all_that_was_done_in_such_a_waking_is_taken_back(
    mira: Companion, said: list[Message], rehearsal: RehearsalServer
) -> None:
    timer = asked_for(mira, said[0])
    rehearsal.script(
        calling(
            ("think", {"text": f"It was {MARKER}."}),
            ("feel", {"text": f"I think of {MARKER}."}),
            ("write_diary", {"title": f"Of {MARKER}", "text": f"Alice opens it with {MARKER}."}),
            ("set_timer", {"schedule": "1d", "text": f"ask about {MARKER}"}),
            ("remember", {"text": f"The locker opens with {MARKER}."}),
            ("remember", {"text": f"It is {MARKER}", "slot": "locker"}),
            ("pursue", {"text": f"Guard {MARKER}"}),
        ),
        {"answer": "", "when": "<kith-waking>"},
    )
    waking = ran(woken(mira, timer))
    assert (waking.outcome, len(waking.steps)) == ("reminded", 7)
    assert {
        *("companions_waking", "companions_timer", "companions_innerstate", "companions_session"),
        "companions_message",
        *("memory_diaryentry", "memory_memory", "memory_slot"),
    } <= tables_with(MARKER).keys()
    Timer.everywhere.filter(waking=waking).update(is_asleep=True)  # as if another branch were chosen since
    delete_message(said[0], LATER)
    assert tables_with(MARKER) == {}
    waking.refresh_from_db()
    assert wordless(waking)
    assert not DiaryEntry.objects.exists()
    assert not Session.objects.filter(waking=waking).exists()
    assert not Slot.objects.exists()
    assert not Pursuit.objects.exists()
    assert states(mira) == [("seed", True), ("deletion", False)]
    assert set(Timer.everywhere.filter(waking=waking).values_list("state", "note")) == {("cancelled", "")}


def test_an_inner_state_that_rests_on_it_goes_and_one_that_does_not_stays(
    mira: Companion, said: list[Message]
) -> None:
    seed = inner_state.get_newest(mira.pk)
    early = felt(mira, "I like tea.", said[2])
    gone = felt(mira, f"Alice told me of {MARKER}. A locker hides something precious.", said[0], said[2])
    again = felt(mira, "A locker hides something precious. The rain is soft.", said[4])
    after = felt(mira, "The rain makes me quiet.", said[4])
    shown = woken(
        mira, shown=[gone.pk], state="done", thought=f"Still {MARKER}.", outcome="silent", look_at=None
    )
    calm = woken(mira, shown=[early.pk], state="done", thought="Tea.", outcome="silent", look_at=None)
    delete_message(said[0], LATER)
    assert again not in InnerState.objects.filter(companion=mira)
    assert list(InnerState.objects.filter(companion=mira).order_by("number")) == [seed, early, after]
    assert tables_with(MARKER) == {}
    calm.refresh_from_db()
    assert calm.thought == "Tea."
    shown.refresh_from_db()
    assert (shown.thought, shown.note, shown.outcome) == ("", "look around", "silent")


def test_one_deleted_message_of_three_sessions_leaves_the_inner_state_as_it_is(
    mira: Companion, said: list[Message]
) -> None:
    felt(mira, f"Alice trusts me with {MARKER}.", *said[:2])
    felt(mira, "I think of her tea.", *said[2:4])
    last = felt(mira, "Rain and a book: I am at ease.", *said[4:])
    delete_message(said[0], LATER)
    assert inner_state.get_newest(mira.pk) == last
    assert tables_with(MARKER) == {}


def states(companion: Companion) -> list[tuple[str, bool]]:
    """By what each of its inner states came to be, and whether it has words, the first one first."""
    return [
        (one.by, bool(one.text)) for one in InnerState.objects.filter(companion=companion).order_by("number")
    ]


def test_deleting_never_puts_the_inner_state_back_to_its_beginning(
    mira: Companion, said: list[Message], rehearsal: RehearsalServer
) -> None:
    beginning = inner_state.get_newest(mira.pk)
    assert beginning
    for text in (f"Alice told me of {MARKER}.", "It stays with me.", "I am calmer now."):
        last = felt(mira, text, said[0])
    delete_message(said[0], LATER)
    assert states(mira) == [("seed", True), ("deletion", False)]
    assert inner_state.get_feeling(inner_state.get_newest(mira.pk)) == inner_state.get_feeling(last)  # type: ignore[arg-type]
    lines = "\n".join(render_inner_state(load_pinned_context(mira.pk), LATER))
    assert "Your mood by now" in lines
    assert beginning.text[:20] not in lines
    Session.objects.filter(companion=mira).update(ended_at=LATER)
    # Though the session is over, and little was said in it.
    due = reflection.find_due_companions(LATER, only=mira.pk)
    assert due == [mira.pk]
    told = {"text": "Alice likes tea.", "valence": 0.2, "arousal": 0.1, "emotion": "happy", "intensity": 0.3}
    rehearsal.script({"answer": json.dumps(told), "task": "reflection"})
    reflection.run(mira.pk, clock_at(LATER))
    assert states(mira) == [("seed", True), ("deletion", False), ("reflection", True)]
    assert reflection.find_due_companions(LATER, only=mira.pk) == []
    assert tables_with(MARKER) == {}


def test_of_an_inner_state_that_rests_on_more_what_does_not_tell_of_it_stays(
    mira: Companion, said: list[Message]
) -> None:
    felt(mira, f"Alice told me of {MARKER}. I think of her tea. A locker is so strange.", said[0], said[2])
    delete_message(said[0], LATER)
    left = inner_state.get_newest(mira.pk)
    assert left
    assert (left.by, left.text, left.seen) == ("deletion", "I think of her tea.", [said[2].pk])
    assert reflection.find_due_companions(LATER, only=mira.pk) == [mira.pk]
    # It says nothing that the words would be known by.
    Message.objects.filter(pk=said[2].pk).update(text="Rain.")
    delete_message(Message.objects.get(pk=said[2].pk), LATER)
    assert states(mira) == [("seed", True), ("deletion", False)]


def felt(companion: Companion, text: str, *seen: Message) -> InnerState:
    by, ids = InnerState.By.REFLECTION, [one.pk for one in seen]
    until = max((one.said_at for one in seen), default=None)
    sad = Feeling(-0.4, 0.3, Emotion.SAD, 0.6)
    return inner_state.revise(companion.pk, text, sad, by=by, now=NOW, seen=ids, until_at=until)


def test_where_all_went_it_begins_anew_and_reflects_again(mira: Companion) -> None:
    messages = say(mira, SECRET, *(f"Thing {number}" for number in range(11)))
    InnerState.objects.filter(companion=mira).delete()
    felt(mira, f"It is {MARKER}.", *messages)
    assert reflection.find_due_companions(LATER, only=mira.pk) == []
    delete_message(messages[0], LATER)
    assert states(mira) == [("deletion", False)]
    assert reflection.find_due_companions(LATER, only=mira.pk) == [mira.pk]


def test_what_a_waking_was_only_shown_leaves_its_reason_and_its_message(
    mira: Companion, said: list[Message]
) -> None:
    let_speak(mira)
    set_slot(mira.pk, "locker", f"It is {MARKER}", by=By.COMPANION, now=NOW, source_ids=[said[0].pk])
    waking = ran(woken(mira, is_asked_for=True))
    assert MARKER in str(waking.prompt)
    (text,) = unprompted(mira)
    delete_message(said[0], LATER)
    assert tables_with(MARKER) == {}
    waking.refresh_from_db()
    assert (waking.note, waking.prompt, waking.shown) == ("look around", [], [])
    assert unprompted(mira) == [text]


def test_a_waking_for_a_memory_that_is_forgotten_goes_with_its_words(
    mira: Companion, said: list[Message]
) -> None:
    fact = learnt(mira, f"Alice opens her locker with {MARKER}.", [(said[0], MARKER)], kind="promise")
    note = f"This was promised: “{fact.text}”"
    drive = {"origin": "drive", "timer": None, "drive": "promise", "drive_key": "x", "about": fact}
    given = {"companion": mira, "due_at": LATER, "created_at": LATER, "note": note, **drive}
    waking = Waking.objects.create(look_at=LATER, **given)
    forget(fact, LATER)
    waking.refresh_from_db()
    assert (waking.state, waking.reason, waking.note) == ("skipped", "gone", "")
    assert tables_with(MARKER).keys() == {"companions_message", "memory_memory"}  # what was said, for the eye
    assert waking.look_at is None


def test_words_about_a_hidden_message_are_hidden_with_it(mira: Companion, said: list[Message]) -> None:
    ran(woken(mira, asked_for(mira, said[0])))
    reminder = Message.objects.get(waking__isnull=False)
    forget(Memory.objects.get(message=said[0]), LATER)
    assert tables_with(MARKER) == {"companions_message": 2}  # for the eye
    reminder.refresh_from_db()
    assert reminder.is_hidden
    assert not Memory.objects.filter(message=reminder).exists()


def test_what_is_private_wakes_nobody_and_stays_in_the_log(mira: Companion, said: list[Message]) -> None:
    timer = asked_for(mira, said[0])
    waking = ran(woken(mira, timer))
    waits = woken(mira, asked_for(mira, said[0], f"and again {MARKER}"))
    felt(mira, f"Alice told me of {MARKER}.", said[0])
    set_private(Memory.objects.get(message=said[0]), True, LATER)
    assert states(mira) == [("seed", True), ("deletion", False)]
    assert (Timer.objects.get(pk=timer.pk).note, as_it_is(waits.pk).reason) == ("", "gone")
    assert MARKER in as_it_is(waking.pk).note
    reminder = Message.objects.get(waking=waking)
    assert (reminder.is_hidden, reminder.memory.is_private) == (True, True)
    assert not timers.get_planned(mira.pk).filter(name="").exists()


def test_a_forgotten_page_takes_its_words_out_of_the_waking_that_wrote_it(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    page = {"title": f"Of {PLAIN}", "text": f"I saw {PLAIN}."}
    later = {"schedule": "1d", "text": "go on"}
    rehearsal.script(
        calling(("write_diary", page), ("set_timer", later)), {"answer": "", "when": "<kith-waking>"}
    )
    ran(woken(mira))
    memory = Memory.objects.get(kind="diary")
    forget(memory, LATER)
    assert tables_with(PLAIN) == {}
    assert timers.get_planned(mira.pk).filter(note="go on").exists()


def test_a_timer_that_alone_tells_it_again_goes_and_one_that_others_tell_stays(
    mira: Companion, said: list[Message]
) -> None:
    again = asked_for(mira, said[2], f"tea, and {MARKER}")
    locker = asked_for(mira, said[4], "clean the locker")
    keep_fact(mira.pk, "Alice shares a locker with Ana.", NOW, NOW)
    delete_message(said[0], NOW)
    assert (Timer.objects.get(pk=again.pk).note, Timer.objects.get(pk=locker.pk).note) == ("", locker.note)


def test_a_prompt_that_held_an_inner_state_that_goes_is_gone(mira: Companion, said: list[Message]) -> None:
    from companions.replies.lifecycle import start

    felt(mira, f"Alice told me of {MARKER}.", said[0])
    state = felt(mira, "It stays with me.")
    reply = start(mira, "Hello", None, LATER).reply
    sent = [{"role": "system", "content": f"It stays, {MARKER}."}]
    Prompt.objects.create(companion=mira, reply=reply, messages=sent, shown=[state.pk], created_at=LATER)
    delete_message(said[0], LATER)
    assert not Prompt.objects.exists()
    assert tables_with(MARKER) == {}


def test_another_companions_life_is_left_alone(mira: Companion, tian: Companion, said: list[Message]) -> None:
    his = asked_for(tian, say(tian, SECRET)[0])
    felt(tian, f"It is {MARKER}.", his.message)
    delete_message(said[0], NOW)
    his.refresh_from_db()
    assert (his.state, his.note) == ("active", NOTE)
    assert inner_state.get_newest(tian.pk).text == f"It is {MARKER}."


def test_all_that_the_rehearsal_model_wrote_in_wakings_goes(
    mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script(
        calling(
            ("feel", {"text": f"I think of {PLAIN}."}),
            ("write_diary", {"title": PLAIN, "text": f"I saw {PLAIN}."}),
            ("set_timer", {"schedule": "1d", "text": PLAIN}),
        ),
        {"answer": "", "thought": f"{PLAIN}…", "when": "<kith-waking>"},
    )
    waking = ran(woken(mira))
    assert waking.is_rehearsed
    assert delete_rehearsed(mira, LATER) == 0
    assert tables_with(PLAIN) == {}
    assert states(mira) == [("seed", True), ("deletion", False)]
    assert not Session.objects.filter(waking=waking).exists()
    assert as_it_is(waking.pk).outcome == "silent"

"""What was heard of a reply is what was said: in its row, its answer, its memory, and in what was drawn from that."""

import asyncio
from datetime import UTC, timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from accounts.models import ModelCall, User
from companions.models import Companion, Message, Reply, Session
from companions.replies import streams
from companions.replies.actions import break_off, keep_heard
from companions.replies.checkpoint import Said
from companions.replies.finish import finish
from companions.replies.lifecycle import claim, process_name, start
from companions.replies.streams import Place
from jobs.background import in_thread
from memory.models import Memory
from memory.recall.recall import recall
from tests.companions.deletion.conftest import MARKER, diary, insight, learnt, profile, told
from tests.companions.everywhere import keys_with, tables_with
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.turns import connected

pytestmark = pytest.mark.django_db(transaction=True)
NOW = timezone.now()
HEARD, UNHEARD = "The tea stands on the table.", f"The key lies under the {MARKER}."
TEXT = f"{HEARD} {UNHEARD}"


def asked(companion: Companion, text: str = "Where is it?") -> Reply:
    """A reply that waits."""
    return start(companion, text, None, NOW).reply


def answered(companion: Companion, text: str = TEXT, **said: object) -> Reply:
    """A reply that is done."""
    reply = asked(companion)
    claim(reply.pk, NOW)
    ended = finish(reply, Reply.State.DONE, Said(text, **said), NOW, held_by=process_name())
    assert ended
    return ended


def test_of_an_answer_that_was_written_whole_only_what_was_heard_is_left(mira: Companion) -> None:
    reply = answered(mira)
    Reply.objects.filter(pk=reply.pk).update(
        emotions=[
            {"at": 0, "emotion": "happy", "intensity": 0.5},
            {"at": 40, "emotion": "sad", "intensity": 1.0},
        ]
    )
    assert tables_with(MARKER).keys() == {"companions_reply", "companions_message", "memory_memory"}
    kept = keep_heard(reply, len(HEARD), NOW)
    assert kept
    assert (kept.state, kept.text) == ("stopped", HEARD)
    answer = Message.objects.select_related("memory").get(made_by=reply)
    assert answer.text == answer.memory.text == HEARD
    assert tables_with(MARKER) == {}
    assert [one["emotion"] for one in Reply.objects.get(pk=reply.pk).emotions] == ["happy"]
    assert not recall(mira.pk, MARKER, 5, now=NOW, zone=UTC)
    assert recall(mira.pk, "tea table", 1, now=NOW, zone=UTC)[0].memory.text == HEARD


def test_what_is_cut_within_a_word_ends_before_it(mira: Companion) -> None:
    kept = keep_heard(answered(mira), len(HEARD) + 7, NOW)
    assert kept
    assert kept.text == f"{HEARD} The"


def test_an_answer_that_was_heard_whole_stays_as_it_is(mira: Companion) -> None:
    reply = answered(mira)
    before = Memory.objects.get(message__made_by=reply).edited_at
    kept = keep_heard(reply, len(TEXT), NOW)
    assert kept
    assert (kept.state, kept.text) == ("done", TEXT)
    assert Memory.objects.get(message__made_by=reply).edited_at == before


def test_the_same_told_twice_changes_nothing_more(mira: Companion) -> None:
    reply = answered(mira)
    keep_heard(reply, len(HEARD), NOW)
    again = keep_heard(reply, len(HEARD), NOW)
    assert again
    assert (again.state, again.text) == ("stopped", HEARD)


def test_an_answer_of_which_nothing_was_heard_is_not_there(mira: Companion) -> None:
    reply = answered(mira)
    kept = keep_heard(reply, 2, NOW)
    assert kept
    assert (kept.state, kept.text, kept.answer) == ("stopped", "", None)
    assert tables_with(MARKER) == {}
    assert tables_with("tea stands") == {}
    mira.conversation.refresh_from_db()
    assert mira.conversation.head == reply.message
    assert [one.text for one in Message.objects.filter(companion=mira)] == ["Where is it?"]


def test_what_was_drawn_from_the_rest_goes_and_it_is_learnt_from_anew(mira: Companion) -> None:
    reply = answered(mira)
    answer = Message.objects.select_related("session").get(made_by=reply)
    Message.objects.filter(companion=mira).update(is_learnt=True)
    fact = learnt(mira, f"The key is under the {MARKER}.", [(answer, UNHEARD)])
    both = learnt(mira, f"Alice asks for the {MARKER}.", [(reply.message, "Where is it?"), (answer, UNHEARD)])
    insight(mira, f"The {MARKER} matters.", fact)
    profile(mira, told(f"A {MARKER}.", answer), told("Alice asks.", reply.message))
    Session.objects.filter(pk=answer.session_id).update(
        summary=f"Of the {MARKER}.", summarised_until=NOW + timedelta(1), scratch=f"{MARKER}!"
    )
    keep_heard(reply, len(HEARD), NOW)
    assert tables_with(MARKER) == {}
    assert not Memory.objects.filter(pk__in=[fact.pk, both.pk]).exists()
    assert not Memory.objects.filter(kind="fact").exists()
    session = Session.objects.get(pk=answer.session_id)
    assert (session.summary, session.summarised_until) == ("", None)
    assert set(Message.objects.filter(is_learnt=False)) == {answer}


def test_a_diary_that_tells_of_the_rest_is_to_be_written_anew(mira: Companion) -> None:
    reply = answered(mira)
    answer = Message.objects.select_related("session").get(made_by=reply)
    Message.objects.filter(companion=mira).update(is_learnt=True)
    entry = diary(
        mira, answer.session, told("Alice asked.", reply.message), told(f"The {MARKER}!", answer), title="Tea"
    )
    keep_heard(reply, len(HEARD), NOW)
    entry.refresh_from_db()
    assert (entry.is_stale, entry.summary) == (True, "Alice asked.")
    assert tables_with(MARKER) == {}


def test_a_summary_of_earlier_talk_outlives_the_cut(mira: Companion) -> None:
    reply = answered(mira)
    sessions = Session.objects.filter(messages__made_by=reply)
    sessions.update(summary="We spoke of rain.", summarised_until=NOW - timedelta(hours=1))
    keep_heard(reply, len(HEARD), NOW)
    assert sessions.get().summary == "We spoke of rain."


def test_a_reply_that_waits_is_stopped_and_says_nothing(mira: Companion) -> None:
    kept = keep_heard(asked(mira), 0, NOW)
    assert kept
    assert (kept.state, kept.answer) == ("stopped", None)


def test_what_a_reply_goes_on_from_was_said_before_and_stays(mira: Companion) -> None:
    earlier = answered(mira, HEARD)
    reply = asked(mira, "Go on?")
    Reply.objects.filter(pk=reply.pk).update(continues=earlier, text=HEARD)
    claim(reply.pk, NOW)
    finish(reply, Reply.State.DONE, Said(TEXT), NOW, held_by=process_name())
    kept = keep_heard(reply, 0, NOW)
    assert kept
    assert kept.text == HEARD
    assert Message.objects.get(made_by=reply).text == HEARD


def test_a_deleted_reply_is_nothing_to_cut(mira: Companion) -> None:
    reply = answered(mira)
    mira.delete()
    assert keep_heard(reply, 3, NOW) is None


@pytest.mark.usefixtures("web")
async def test_a_reply_that_still_streams_ends_at_once_and_leaves_nothing_more(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    pieces = ["The tea ", "stands ", f"under {MARKER} "] + ["and on "] * 400
    rehearsal.script({"pieces": pieces, "delay_between": 0.05})
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="Where is it?", client_id="1")
        frames = await socket.until("reply.piece")
        reply = await in_thread(Reply.objects.get)
        while MARKER not in "".join(one.get("text", "") for one in frames if one["type"] == "reply.piece"):
            frames.append(await socket.frame())
        kept = await break_off(reply, len("The tea sta"), timezone.now())
        frames = [one for one in await _all(socket, 2) if one["type"] in ("reply.heard", "reply.stopped")]
    assert kept
    assert kept.text == "The tea"
    assert {one["type"] for one in frames} == {"reply.heard", "reply.stopped"}
    assert {one["message"]["text"] for one in frames} == {"The tea"}
    assert await in_thread(tables_with, MARKER) == {}
    assert await asyncio.to_thread(keys_with, MARKER, settings.REDIS_URL) == []
    call = await in_thread(ModelCall.objects.get)
    assert call.outcome == ModelCall.Outcome.STOPPED


async def test_a_reply_that_another_process_makes_ends_for_it_too(mira: Companion) -> None:
    """That process finds its reply ended, and its stream takes nothing more from it."""
    reply = await in_thread(asked, mira)
    await in_thread(claim, reply.pk, NOW)
    await in_thread(
        lambda: Reply.objects.filter(pk=reply.pk).update(lease_by="another", text="The tea stands")
    )
    await streams.append_entries([_batch(reply, 1, "The tea stands")])
    kept = await in_thread(keep_heard, reply, 8, NOW)
    assert kept
    assert (kept.state, kept.text) == ("stopped", "The tea")
    assert await streams.append_entries([_batch(reply, 2, f" under {MARKER}")]) == [False]
    late = await in_thread(finish, reply, Reply.State.DONE, Said(TEXT), NOW, held_by="another")
    assert late is None
    assert await streams.read_entries(reply.pk, Place()) == []
    assert await in_thread(tables_with, MARKER) == {}


async def _all(socket, seconds: float) -> list[dict]:
    frames = []
    try:
        while True:
            frames.append(await socket.frame(seconds))
            if {"reply.heard", "reply.stopped"} <= {one["type"] for one in frames}:
                return frames
    except TimeoutError:
        return frames


def _batch(reply: Reply, seq: int, text: str) -> tuple[str, list[streams.Entry]]:
    piece: streams.Frame = {"type": "reply.piece", "id": str(reply.pk), "seq": seq, "text": text}
    return str(reply.pk), [streams.Entry.of(piece, Place(seq, 0), seq)]

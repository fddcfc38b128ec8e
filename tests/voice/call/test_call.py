"""A call over its socket: what is said becomes a message, what was not heard was not said."""

import asyncio
from typing import Any

import pytest
from django.conf import settings as kith
from django.utils import timezone

from accounts.models import SoundCall, User
from companions.models import Companion, Message, Reply
from companions.prompting.turn_prompt import IN_CALL
from companions.replies import turn
from companions.replies.actions import retry
from files.contents import read_content
from files.models import StoredFile
from jobs.background import in_thread
from memory.models import Memory
from providers.sound import encode_wav, read
from safety.models import ContinuousUse
from tests.companions.everywhere import keys_with, tables_with
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.sound import NO_TRANSCRIPTION, hum
from tests.fixtures.turns import Socket, bearer, connected
from tests.voice.call.calls import ENDINGS, calling, say
from tests.voice.recordings import hears
from tests.voice.speeches import kept
from voice.models import Recording, Spoken
from voice.speech.sound import speak_sentence

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("web", "rehearsal", "speech_rehearsal"),
]
MARKER = "Zxqvorn"


async def test_what_is_said_is_a_message_like_any_other(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script_sound(hears("My sister Ada lives in Lisbon."))
    rehearsal.script({"answer": "How is she?"})
    async with calling(alice, mira) as call:
        await say(call, "one", language="en")
        frames = await call.until(*ENDINGS)
    assert [one["type"] for one in frames][:2] == ["message.saved", "reply.started"]
    assert frames[0]["message"]["client_id"] == "one"
    assert frames[-1]["message"]["text"] == "How is she?"
    message = await Message.objects.select_related("recording__file").aget(role="user")
    assert message.text == "My sister Ada lives in Lisbon."
    assert await Memory.objects.aget(message=message, kind="said")
    assert message.recording.heard == message.text
    kept = read(await in_thread(read_content, message.recording.file), 10)
    assert kept.seconds == pytest.approx(1.0, abs=0.1)
    counted = await SoundCall.objects.aget()
    assert (counted.capability, counted.seconds) == ("transcription", pytest.approx(1.0, abs=0.1))


async def test_the_talk_in_another_window_has_it_too(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script_sound(hears("Good evening."))
    async with calling(alice, mira) as call, connected(alice, mira) as talk:
        await say(call, "one")
        said, seen = await call.until(*ENDINGS), await talk.until(*ENDINGS)
    assert [one["type"] for one in said] == [one["type"] for one in seen]
    assert said[-1] == seen[-1]


async def test_utterances_are_heard_in_their_order(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script_sound(hears("First.", delay=0.5), hears("Second."))
    async with calling(alice, mira) as call:
        await say(call, "1")
        await say(call, "2")
        await call.until("reply.done")
        await call.until("reply.done")
    said = Message.objects.filter(role="user").order_by("said_at")
    assert [one.text async for one in said] == ["First.", "Second."]


@pytest.mark.parametrize("is_kept", [True, False])
async def test_the_companion_knows_what_is_heard_and_what_is_read(
    alice: User, mira: Companion, rehearsal: RehearsalServer, settings: Any, is_kept: bool
) -> None:
    settings.FILES_BYTES_EACH = kith.FILES_BYTES_EACH if is_kept else 0  # room for the recordings
    rehearsal.script({"answer": "It rains.", "delay": 0.5})
    rehearsal.script_sound(hears("How is the weather?"), hears("And tomorrow?"))
    async with calling(alice, mira) as call:
        await say(call, "1")
        await say(call, "2")
        await call.until("reply.done")
        await call.until("reply.done")
        await call.send("message.send", text="Show me a list.", client_id="3")
        await call.until("reply.done")
    async with connected(alice, mira) as talk:
        heard = await Reply.objects.select_related("companion").aget(message__text="And tomorrow?")
        again = await in_thread(retry, heard, timezone.now())
        turn.spawn(again.pk)
        await talk.until("reply.done")
    asked = [str(request["messages"][-1]["content"]) for request in rehearsal.requests()]
    assert [one.partition("\n")[0] for one in asked] == [
        *("How is the weather?", "And tomorrow?", "Show me a list.", "And tomorrow?")
    ]
    assert [IN_CALL in one for one in asked] == [True, True, False, False]
    assert await Recording.objects.acount() == (2 if is_kept else 0)


async def test_a_lost_reply_to_what_is_said_again_is_made_to_be_heard_as_well(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script_sound(hears("How is the weather?"))
    async with calling(alice, mira) as call:
        await say(call, "one")
        await call.until("reply.done")
        await Reply.objects.all().adelete()
        await say(call, "one")
        await call.until("reply.done")
    assert [IN_CALL in str(request["messages"][-1]["content"]) for request in rehearsal.requests()] == [
        True
    ] * 2


@pytest.mark.parametrize("seconds", [0.4, 2.0])
async def test_a_silence_is_nothing_and_nobody_is_asked(
    alice: User, mira: Companion, rehearsal: RehearsalServer, seconds: float
) -> None:
    async with calling(alice, mira) as call:
        await say(call, "one", encode_wav(hum(seconds, loud=0.0)))
        assert await call.frame() == {"type": "call.nothing", "client_id": "one"}
    assert rehearsal.sound_requests() == []
    assert not await Recording.objects.aexists()


async def test_a_noise_without_words_is_nothing_and_is_not_kept(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script_sound(hears("  "))
    async with calling(alice, mira) as call:
        await say(call, "one")
        assert await call.frame() == {"type": "call.nothing", "client_id": "one"}
    assert not await Message.objects.aexists()
    assert not await Recording.objects.aexists()
    assert not await StoredFile.objects.aexists()


async def test_where_no_transcription_is_connected_it_is_not_asked_for_again(
    alice: User, mira: Companion, settings: Any
) -> None:
    settings.TRANSCRIPTION = dict(NO_TRANSCRIPTION)
    async with calling(alice, mira) as call:
        await say(call, "one")
        error = await call.frame(20)
        assert (error["code"], "again" in error["detail"]) == ("no_transcription", False)


async def test_where_nobody_listens_it_is_told_and_the_call_goes_on(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    failing = {"capability": "transcription", "error": {"status": 503, "message": "overloaded"}}
    rehearsal.script_sound(failing, failing)
    async with calling(alice, mira) as call:
        await say(call, "one")
        error = await call.frame(20)
        assert (error["type"], error["code"], error["client_id"]) == (
            "error",
            "transcription_unavailable",
            "one",
        )
        assert "kept" not in error["detail"]
        assert not await Recording.objects.aexists()
        rehearsal.script_sound(failing, hears("Now?"))  # one that fails for a moment is asked again
        await say(call, "two")
        assert (await call.until(*ENDINGS))[0]["message"]["text"] == "Now?"


async def test_a_line_that_fell_before_the_answer_came_is_taken_up(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    """The same utterance under the same id is one message, though it would be understood otherwise by now."""
    rehearsal.script_sound(hears("My sister is Ada."), hears("My sitter is Adam."))
    async with calling(alice, mira) as call:
        await say(call, "one")
        first = await call.until(*ENDINGS)
    async with calling(alice, mira) as call:
        await say(call, "one")
        again = await call.frame()
        assert again["message"] == first[0]["message"]
        await call.send("reply.resume", id=again["reply"]["id"])
        assert (await call.until(*ENDINGS))[-1] == first[-1]
    assert await Message.objects.filter(role="user").acount() == 1
    assert await Recording.objects.acount() == 1


async def test_who_breaks_in_stops_model_and_answer_and_only_what_was_heard_is_kept(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    pieces = ["It stands on the table. ", f"And under {MARKER} "] + ["and on "] * 400
    rehearsal.script({"pieces": pieces, "delay_between": 0.05}, {"answer": "Yes?"})
    rehearsal.script_sound(hears("Where is it?"), hears("Stop."))
    async with calling(alice, mira) as call:
        await say(call, "one")
        frames = await call.until("reply.piece")
        while MARKER not in "".join(one.get("text", "") for one in frames if one["type"] == "reply.piece"):
            frames.append(await call.frame())
        await call.send("reply.heard", id=frames[0]["reply"]["id"], until=len("It stands on the tab"))
        await say(call, "two")
        frames = await call.until("reply.done")
    ends = [one for one in frames if one["type"] in ("reply.heard", "reply.stopped")]
    assert {one["type"] for one in ends} == {"reply.heard", "reply.stopped"}
    assert {one["message"]["text"] for one in ends} == {"It stands on the"}
    path = Message.objects.order_by("said_at")
    assert [one.text async for one in path] == ["Where is it?", "It stands on the", "Stop.", "Yes?"]
    assert [line["content"] for line in rehearsal.requests()[-1]["messages"][-2:]] == [
        "It stands on the",
        rehearsal.requests()[-1]["messages"][-1]["content"],
    ]
    assert await in_thread(tables_with, MARKER) == {}
    assert await asyncio.to_thread(keys_with, MARKER, kith.REDIS_URL) == []


async def test_the_sound_of_what_was_not_heard_is_gone(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"answer": "One is here. Two is there. Three is gone."})
    rehearsal.script_sound(hears("Count."))
    async with calling(alice, mira) as call:
        await say(call, "one")
        await call.until("reply.done")
        reply = await Reply.objects.select_related("companion__user", "answer").aget()
        for number in range(3):
            assert await speak_sentence(reply, number)
        await kept()
        assert await Spoken.objects.acount() == 3
        await call.send("reply.heard", id=str(reply.pk), until=len("One is here. Two is"))
        heard = await call.until("reply.heard")
    assert heard[-1]["text"] == "One is here. Two is"
    assert [one.number async for one in Spoken.objects.all()] == [0]
    assert await StoredFile.objects.filter(kind="speech").acount() == 1


async def test_the_time_of_a_call_counts_as_time_together(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script_sound(hears("Good evening."))
    async with calling(alice, mira) as call:
        await say(call, "one")
        await call.until("reply.done")
    assert await ContinuousUse.objects.filter(user=alice).aexists()


async def test_a_call_of_anothers_companion_does_not_exist(mallory: User, mira: Companion) -> None:
    socket = Socket(mira.pk, await bearer(mallory), part="call/")
    await socket.wire.connect(timeout=30)
    closed = await socket.wire.receive_output(5)
    assert (closed["type"], closed["code"]) == ("websocket.close", 4404)


async def test_what_was_heard_of_anothers_reply_is_not_asked(
    alice: User, mallory: User, mira: Companion, tian: Companion, bob: User, rehearsal: RehearsalServer
) -> None:
    async with connected(alice, mira) as talk:
        await talk.send("message.send", text="Hello", client_id="1")
        saved = (await talk.until("reply.done"))[0]
    async with calling(bob, tian) as call:
        await call.send("reply.heard", id=saved["reply"]["id"], until=0)
        assert (await call.frame())["code"] == "no_such_reply"
    assert (await Reply.objects.aget()).state == "done"


async def end_while_heard(call: Socket, rehearsal: RehearsalServer, code: int) -> None:
    """End the call with this code while what was said last is being transcribed."""
    await say(call, "one")
    while not rehearsal.sound_requests():
        await asyncio.sleep(0.02)
    await call.wire.send_input({"type": "websocket.disconnect", "code": code})


async def test_what_was_said_right_before_hanging_up_is_a_message_and_answered_to_be_read(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script_sound(hears("Good night.", delay=0.5))
    rehearsal.script({"answer": "Sleep well."})
    async with connected(alice, mira) as talk, calling(alice, mira) as call:
        await end_while_heard(call, rehearsal, code=1000)
        frames = await talk.until("reply.done")
    assert frames[0]["message"]["text"] == "Good night."
    assert not (await Reply.objects.aget()).is_in_call
    assert await Recording.objects.filter(message__text="Good night.").aexists()


async def test_who_hung_up_before_the_last_words_failed_is_told_in_the_talk(
    alice: User, bob: User, mira: Companion, tian: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script_sound(hears(delay=0.5, error={"status": 400}))
    async with connected(alice, mira) as talk, connected(bob, tian) as other, calling(alice, mira) as call:
        await end_while_heard(call, rehearsal, code=1000)
        told = await talk.frame()
        assert (told["type"], told["code"], told["client_id"]) == ("error", "transcription_refused", "one")
        assert "what you said last in the call" in told["detail"]
        await other.send("unknown")
        assert (await other.frame())["code"] == "unknown_frame"
    assert not await Message.objects.aexists()


async def test_where_the_line_fell_the_client_says_it_again(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script_sound(hears("Good night.", delay=0.5), hears("Good night, Mira."))
    async with calling(alice, mira) as call:
        await end_while_heard(call, rehearsal, code=1005)  # as the server gives for a lost line
    async with calling(alice, mira) as call:
        await say(call, "one")
        await call.until("reply.done")
    assert [one.text async for one in Message.objects.filter(role="user")] == ["Good night, Mira."]
    assert (await Reply.objects.aget()).is_in_call


async def test_what_is_said_again_before_it_was_understood_is_one_message(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script_sound(hears("Good night.", delay=0.5), hears("Good knight.", delay=1.5))
    async with calling(alice, mira) as first, calling(alice, mira) as call:
        await end_while_heard(first, rehearsal, code=1000)
        await say(call, "one")
        frames = await call.until("reply.done")
        frames += await call.until("message.saved")
    assert {one["message"]["text"] for one in frames if one["type"] == "message.saved"} == {"Good night."}
    assert await Message.objects.filter(role="user").acount() == 1
    assert await Recording.objects.acount() == 1


async def test_the_newest_call_ends_the_others_even_one_whose_line_had_fallen(
    alice: User, bob: User, mira: Companion, tian: Companion
) -> None:
    async with calling(alice, mira) as phone, calling(alice, mira) as desk, calling(bob, tian) as other:
        for call in (phone, desk, other):  # each listens once it answers
            await call.send("unknown")
            assert (await call.frame())["code"] == "unknown_frame"
        await other.send("call.begin", call="other")
        assert await other.frame() == {"type": "call.begun", "call": "other"}
        await phone.send("call.begin", call="phone")
        for call in (phone, desk):
            assert await call.frame() == {"type": "call.begun", "call": "phone"}
        await desk.send("call.begin", call="desk")
        for call in (phone, desk):
            assert await call.frame() == {"type": "call.begun", "call": "desk"}
        await phone.send("call.begin", call="phone", again=True)  # answered alone
        assert await phone.frame() == {"type": "call.begun", "call": "desk"}
        await desk.send("call.begin", call="desk", again=True)
        assert await desk.frame() == {"type": "call.begun", "call": "desk"}
        for call in (phone, desk, other):
            assert await call.wire.receive_nothing(timeout=0.3)


async def test_a_call_that_is_over_does_not_end_one_that_begins_after_it(
    alice: User, mira: Companion
) -> None:
    async with calling(alice, mira) as before:
        await before.send("call.begin", call="before")
        assert await before.frame() == {"type": "call.begun", "call": "before"}
        await before.wire.send_input({"type": "websocket.disconnect", "code": 1000})
        await before.wire.wait()
    async with calling(alice, mira) as call:
        await call.send("call.begin", call="call", again=True)  # its first line fell before Kith had taken it
        assert await call.frame() == {"type": "call.begun", "call": "call"}

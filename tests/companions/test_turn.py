"""A turn over the socket, from the message to the recorded reply."""

import asyncio
import uuid
from typing import Any

import psutil
import pytest
import redis
from django.conf import settings
from django.utils import timezone

from accounts.models import ModelCall, User
from companions.events import CUT_OFF, render_ending, tell_companion
from companions.models import Companion, Message, Prompt, Reply
from companions.replies.lifecycle import start
from companions.replies.turn import generate
from config.asgi import application
from jobs.background import in_thread
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.turns import Socket, bearer, connected, end_session

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("web")]
ENDINGS = ("reply.done", "reply.stopped", "reply.interrupted", "reply.failed", "error")


def said(frames: list[dict]) -> str:
    return "".join(frame["text"] for frame in frames if frame["type"] == "reply.piece")


async def test_a_message_is_saved_and_answered_piece_by_piece(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"pieces": ["Good ", "evening, ", "Alice."], "thought": "She is back."})
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="I am home.", client_id="one")
        frames = await socket.until(*ENDINGS)
    types = [frame["type"] for frame in frames]
    assert types[0] == "message.saved"
    assert types[1:3] == ["reply.started", "reply.recalled"]
    assert types[-1] == "reply.done"
    assert said(frames) == "Good evening, Alice." == frames[-1]["message"]["text"]
    assert "".join(frame["text"] for frame in frames if frame["type"] == "reply.thought") == "She is back."
    numbers = [frame["seq"] for frame in frames if "seq" in frame]
    assert numbers == list(range(1, len(numbers) + 1))


async def test_the_reply_is_recorded_with_what_was_sent_and_counted(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="My sister Ana lives in Porto.", client_id="one")
        await socket.until(*ENDINGS)
    reply = await in_thread(Reply.objects.select_related("answer").get)
    prompt = await in_thread(Prompt.objects.get)
    call = await in_thread(ModelCall.objects.get)
    (counted,) = rehearsal.ledger()
    (request,) = rehearsal.requests()
    assert reply.state == Reply.State.DONE
    assert reply.answer
    assert reply.answer.text == reply.text
    assert reply.answer.is_rehearsed
    assert prompt.messages == request["messages"]
    assert (call.prompt_tokens, call.completion_tokens) == (
        counted["prompt_tokens"],
        counted["completion_tokens"],
    )
    assert call.outcome == ModelCall.Outcome.DONE
    assert not call.is_estimated


async def test_the_same_message_sent_twice_is_stored_once(alice: User, mira: Companion) -> None:
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="Hello", client_id="one")
        first = await socket.until(*ENDINGS)
        await socket.send("message.send", text="Hello", client_id="one")
        again = await socket.frame()
        await socket.send("message.send", text="Something else", client_id="one")
        refused = await socket.frame()
    assert again["type"] == "message.saved"
    assert again["message"]["id"] == first[0]["message"]["id"]
    assert (refused["type"], refused["code"], refused["client_id"]) == ("error", "client_id_taken", "one")
    assert await in_thread(Message.objects.filter(role="user").count) == 1


async def test_a_second_message_waits_its_turn_and_follows_the_first_answer(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"answer": "First answer.", "delay": 0.4}, {"answer": "Second answer."})
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="One", client_id="1")
        await socket.send("message.send", text="Two", client_id="2")
        frames = await socket.until("reply.done")
        frames += await socket.until("reply.done")
    begun = [frame["message_id"] for frame in frames if frame["type"] == "reply.started"]
    saved = [frame["message"]["id"] for frame in frames if frame["type"] == "message.saved"]
    assert begun == saved
    roles = [line["role"] for line in rehearsal.requests()[1]["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    texts = await in_thread(
        lambda: [(m.text, m.parent and m.parent.text) for m in Message.objects.order_by("said_at")]
    )
    assert texts == [
        ("One", None),
        ("Two", "First answer."),
        ("First answer.", "One"),
        ("Second answer.", "Two"),
    ]


async def test_a_stopped_reply_keeps_what_had_been_said(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"pieces": ["Once upon a time"] + [" and on"] * 400, "delay_between": 0.05})
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="Tell me a story", client_id="1")
        frames = await socket.until("reply.piece")
        await socket.send("reply.stop", id=frames[-1]["id"])
        frames += await socket.until(*ENDINGS)
    assert frames[-1]["type"] == "reply.stopped"
    assert frames[-1]["message"]["text"].startswith("Once upon a time")
    assert len(frames[-1]["message"]["text"]) < 400
    call = await in_thread(ModelCall.objects.get)
    assert call.outcome == ModelCall.Outcome.STOPPED
    assert call.completion_tokens > 0


async def test_a_failed_reply_keeps_the_message_and_can_be_tried_again(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"error": {"status": 503, "body": "the machine room is on fire"}})
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="Are you there?", client_id="1")
        failed = (await socket.until(*ENDINGS))[-1]
    assert (failed["type"], failed["code"], failed["message"]) == (
        "reply.failed",
        "provider_unavailable",
        None,
    )
    assert "fire" not in failed["detail"]
    call = await in_thread(ModelCall.objects.get)
    assert "the machine room is on fire" in call.said
    assert await in_thread(Message.objects.filter(text="Are you there?").exists)


def test_a_failure_is_told_in_the_persons_language(tian: Companion) -> None:
    told = render_ending(Reply(companion=tian, code=CUT_OFF), tian)
    assert told == {"message": None, "code": "cut_off", "detail": "回答中途断了，已经说的都留着。"}


async def test_a_cut_socket_resumes_after_the_piece_it_had(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"pieces": [f"{number} " for number in range(40)], "delay_between": 0.02})
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="Count", client_id="1")
        before = await socket.until("reply.piece")
    await asyncio.sleep(0.3)
    async with connected(alice, mira) as socket:
        await socket.send("reply.resume", id=before[-1]["id"], after=before[-1]["seq"])
        after = await socket.until(*ENDINGS)
    pieces = {frame["seq"]: frame["text"] for frame in before + after if frame["type"] == "reply.piece"}
    assert sorted(pieces) == list(range(1, len(pieces) + 1))
    assert "".join(pieces[seq] for seq in sorted(pieces)) == "".join(f"{number} " for number in range(40))


async def test_the_tool_that_remembers_is_called_and_kept(alice: User, mira: Companion) -> None:
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="Please remember that my exam is on Friday.", client_id="1")
        frames = await socket.until(*ENDINGS)
    assert frames[-1]["type"] == "reply.done"
    assert [frame["name"] for frame in frames if frame["type"] == "reply.tool"] == ["remember"]
    reply = await in_thread(Reply.objects.get)
    assert reply.tool_calls[0]["name"] == "remember"
    assert "error" not in reply.tool_calls[0]["result"]
    assert await in_thread(mira.memories.filter(kind="fact").count) == 1
    assert await in_thread(ModelCall.objects.count) == 2


async def test_what_it_said_before_it_called_a_tool_stands_before_the_call(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    look = {"name": "recall", "arguments": {"words": "exam"}}
    rehearsal.script({"answer": "Let me think.", "tool_calls": [look]}, {"answer": "It is on Friday."})
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="When is my exam?", client_id="1")
        await socket.until("reply.done")
    called = rehearsal.requests()[1]["messages"][-2]
    assert called["tool_calls"][0]["function"]["name"] == "recall"
    assert called["content"] == "Let me think."


async def test_an_answer_that_never_came_leaves_no_gap_behind_what_was_said_before_the_call(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    look = {"name": "recall", "arguments": {"words": "exam"}}
    rehearsal.script({"answer": "Let me think.", "tool_calls": [look]}, {"answer": ""}, {"answer": ""})
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="When is my exam?", client_id="1")
        frames = await socket.until("reply.done")
    assert frames[-1]["message"]["text"] == "Let me think."


async def test_what_was_said_yesterday_comes_back_in_a_new_session(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="My dentist is called Dr. Okafor.", client_id="1")
        first = await socket.until(*ENDINGS)
        await in_thread(end_session, mira)
        await socket.send("message.send", text="What is my dentist called?", client_id="2")
        frames = await socket.until(*ENDINGS)
    recalled = next(frame for frame in frames if frame["type"] == "reply.recalled")["recalled"]
    assert first[0]["message"]["id"] in [one["message_id"] for one in recalled]
    assert "Okafor" in frames[-1]["message"]["text"]
    assert [line["role"] for line in rehearsal.requests()[-1]["messages"]] == ["system", "user"]


async def test_an_unknown_reply_is_an_error_frame(alice: User, mira: Companion) -> None:
    async with connected(alice, mira) as socket:
        await socket.send("reply.stop", id=str(uuid.uuid4()))
        assert (await socket.frame())["code"] == "no_such_reply"


async def test_a_reply_that_is_taken_up_twice_is_made_once(mira: Companion) -> None:
    started = await in_thread(lambda: start(mira, "Hello", None, timezone.now(), at_once=True))
    assert started.has_turn
    await asyncio.gather(*(generate(started.reply, timezone.now) for _twice in range(2)))
    assert await in_thread(lambda: Reply.objects.get().state) == Reply.State.DONE
    assert await in_thread(ModelCall.objects.count) == 1


async def test_what_is_said_as_soon_as_a_socket_is_open_reaches_it(alice: User, mira: Companion) -> None:
    scope = Socket(mira.pk, await bearer(alice)).wire.scope
    coming, frames = asyncio.Queue[dict[str, Any]](), asyncio.Queue[str]()
    coming.put_nowait({"type": "websocket.connect"})

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "websocket.accept":
            await tell_companion(mira.pk, {"type": "messages.deleted", "ids": []})
        elif message["type"] == "websocket.send":
            frames.put_nowait(message["text"])

    serving = asyncio.create_task(application(scope, coming.get, send))
    assert "messages.deleted" in await asyncio.wait_for(frames.get(), 10)
    coming.put_nowait({"type": "websocket.disconnect", "code": 1000})
    await asyncio.wait_for(serving, 10)


async def test_a_socket_tells_that_events_were_missed_while_redis_was_away(
    alice: User, mira: Companion
) -> None:
    async with connected(alice, mira) as socket:
        ours = {
            connection.laddr.port
            for connection in psutil.Process().net_connections("tcp")
            if connection.laddr
        }
        with redis.Redis.from_url(settings.REDIS_URL) as client:
            for listening in client.client_list(_type="pubsub"):
                if int(listening["addr"].rpartition(":")[2]) in ours:
                    client.client_kill_filter(_id=listening["id"])
        assert await socket.frame() == {"type": "messages.missed"}
        assert await socket.wire.receive_nothing(timeout=4)

"""What a person deletes is gone from every table, from Redis and from every later prompt."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import redis
from django.conf import settings
from django.utils import timezone

from accounts.models import ModelCall, User
from companions.deletion import delete_companion, delete_message, forget
from companions.models import Companion, Message, Prompt, Reply
from companions.replies.actions import go_on
from companions.replies.turn import spawn
from jobs.background import in_thread
from memory.embedding import embed_waiting
from memory.models import Memory, Recall
from memory.recall.recall import recall, record
from tests.companions.everywhere import keys_with, tables_with
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.turns import Socket, connected, end_session

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("web")]
ENDINGS = ("reply.done", "reply.stopped", "reply.interrupted", "reply.failed")
MARKER = "Zxqvorn"
SECRET = f"My locker's password is {MARKER}."
LONG = [f"{number} and " for number in range(400)]


@pytest.fixture(autouse=True)
def empty_redis() -> None:
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.flushdb()


async def said(socket: Socket, text: str) -> list[dict[str, Any]]:
    """The frames of a message and its answer."""
    await socket.send("message.send", text=text, client_id=text)
    return await socket.until(*ENDINGS)


async def places() -> dict[str, int]:
    """Where the marker stands, and how often."""
    found = await in_thread(tables_with, MARKER)
    return {**found, **dict.fromkeys(await in_thread(keys_with, MARKER, settings.REDIS_URL), 1)}


async def eventually(fact: Callable[[], Any], seconds: float = 5.0) -> Any:
    async with asyncio.timeout(seconds):
        while not (found := await in_thread(fact)):
            await asyncio.sleep(0.02)
    return found


async def talk_about_it(alice: User, mira: Companion, rehearsal: RehearsalServer) -> Message:
    """The message with the marker, which then got into all that Kith keeps of a turn."""
    remember = {"name": "remember", "arguments": {"text": f"Locker: {MARKER}"}}
    look = {"name": "recall", "arguments": {"cue": f"locker {MARKER}"}}
    echo = {"status": 503, "body": f"overloaded, could not read: {SECRET}"}
    rehearsal.script(
        {"tool_calls": [remember], "thought": f"So it is {MARKER}."},
        {"answer": "I will keep it to myself."},
        {"answer": "We spoke of your locker.", "thought": f"History says {MARKER}."},
        {"tool_calls": [look], "thought": "I should look."},
        {"answer": "You told me."},
        {"pieces": ["Well ", *LONG], "thought": f"{MARKER} again.", "delay_between": 0.01},
        {"error": echo},
    )
    async with connected(alice, mira) as socket:
        first = await said(socket, SECRET)
        await said(socket, "What did we speak of?")
        await in_thread(end_session, mira)
        await in_thread(embed_waiting, mira.pk)
        recalled = await said(socket, "What is the password of my locker?")
        await in_thread(end_session, mira)
        await socket.send("message.send", text="Tell me a tale of a locker", client_id="tale")
        piece = (await socket.until("reply.piece"))[-1]
        await socket.send("reply.stop", id=piece["id"])
        await socket.until("reply.stopped")
        await in_thread(end_session, mira)
        await said(socket, "Is my locker's password safe?")
    assert MARKER in str(recalled)
    found = await in_thread(recall, mira.pk, MARKER, 5, now=timezone.now(), zone=alice.zone)
    await in_thread(record, mira.pk, Recall.By.API, f"where is {MARKER}", found, timezone.now(), 1)
    return await in_thread(Message.objects.select_related("companion").get, pk=first[0]["message"]["id"])


async def test_a_deleted_message_is_nowhere(alice: User, mira: Companion, rehearsal: RehearsalServer) -> None:
    message = await talk_about_it(alice, mira, rehearsal)
    before = await places()
    tables = {"message", "reply", "prompt"}
    assert {f"companions_{name}" for name in tables} <= before.keys()
    assert {"memory_memory", "memory_recall", "accounts_modelcall"} <= before.keys()
    assert [place for place in before if place.startswith("kith:reply:")]

    await in_thread(delete_message, message, timezone.now())

    assert await places() == {}
    assert await in_thread(Message.objects.filter(companion=mira).count) == 8
    answered = await in_thread(
        lambda: list(Reply.objects.order_by("created_at").values_list("state", flat=True))
    )
    assert answered == ["done", "done", "stopped", "failed"]
    assert await in_thread(ModelCall.objects.filter(companion=mira, prompt_tokens__gt=0).count) >= 6


async def test_a_memory_forgotten_with_its_message_is_nowhere(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    message = await talk_about_it(alice, mira, rehearsal)
    memory = await in_thread(Memory.objects.select_related("message").get, message=message)
    await in_thread(forget, memory, timezone.now(), with_message=True)
    assert await places() == {}


async def test_a_fact_forgotten_with_its_message_is_nowhere(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    await talk_about_it(alice, mira, rehearsal)
    fact = await in_thread(Memory.objects.select_related("message").get, kind="fact")
    await in_thread(forget, fact, timezone.now(), with_message=True)
    assert await places() == {}


async def test_a_forgotten_memory_leaves_the_words_in_its_hidden_message_alone(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    message = await talk_about_it(alice, mira, rehearsal)
    memory = await in_thread(Memory.objects.select_related("message").get, message=message)
    await in_thread(forget, memory, timezone.now())
    # The second: the message's own cue.
    assert await places() == {"companions_message": 1, "memory_recall": 1}
    async with connected(alice, mira) as socket:
        frames = await said(socket, "What is the password of my locker, then?")
    assert MARKER not in str(rehearsal.requests()[-1])
    assert MARKER not in str(frames)


async def test_a_fact_that_a_later_turn_drew_from_what_is_deleted_goes_with_it(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    facts = [f"The locker opens with {MARKER}.", "Ana lives in Porto."]
    calls = [{"name": "remember", "arguments": {"text": text}} for text in facts]
    rehearsal.script({"answer": "Kept."}, {"answer": "Nice."}, {"tool_calls": calls}, {"answer": "Noted."})
    async with connected(alice, mira) as socket:
        frames = await said(socket, SECRET)
        await said(socket, "My sister Ana lives in Porto.")
        await said(socket, "Note down what I told you.")
    message = await in_thread(Message.objects.select_related("companion").get, pk=frames[0]["message"]["id"])
    assert await in_thread(Memory.objects.filter(kind="fact", sources=message).count) == 1
    await in_thread(delete_message, message, timezone.now())
    assert await places() == {}
    assert (await in_thread(Memory.objects.get, kind="fact")).text == "Ana lives in Porto."


async def test_a_tool_called_after_the_deletion_of_what_it_was_told_keeps_nothing(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    remember = {"name": "remember", "arguments": {"text": f"The locker opens with {MARKER}."}}
    rehearsal.script(
        {"answer": "Kept."},
        {"pieces": ["So "] * 30, "delay_between": 0.01, "tool_calls": [remember]},
        {"answer": "Never to be asked."},
    )
    async with connected(alice, mira) as socket:
        frames = await said(socket, SECRET)
        await socket.send("message.send", text="Note it down.", client_id="2")
        await socket.until("reply.piece")
        settings.LEASE_RENEWED_SECONDS = 30  # so that nobody notices before the tool is called
        message = await in_thread(
            Message.objects.select_related("companion").get, pk=frames[0]["message"]["id"]
        )
        await in_thread(delete_message, message, timezone.now())
        assert (await socket.until(*ENDINGS))[-1]["type"] == "reply.interrupted"
    assert await in_thread(Memory.objects.filter(kind="fact").count) == 0
    assert await places() == {}


async def test_an_answer_is_deleted_with_all_that_its_replies_hold_of_it(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script(
        {"pieces": [f"It is {MARKER}. ", *LONG], "delay_between": 0.01}, {"answer": f"So, {MARKER}."}
    )
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="Guess the password", client_id="1")
        piece = (await socket.until("reply.piece"))[-1]
        await socket.send("reply.stop", id=piece["id"])
        await socket.until("reply.stopped")
        stopped = await in_thread(Reply.objects.get, pk=piece["id"])
        more = await in_thread(go_on, stopped, timezone.now())
        spawn(more.pk)
        ending = (await socket.until(*ENDINGS))[-1]
    assert ending["message"]["text"].count(MARKER) == 2
    answer = await in_thread(Message.objects.select_related("companion").get, pk=ending["message"]["id"])
    await in_thread(delete_message, answer, timezone.now())
    assert await places() == {}
    assert await in_thread(Message.objects.filter(companion=mira).count) == 1


async def test_a_message_deleted_while_it_is_answered_takes_the_answer_along(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"pieces": [f"{MARKER}, you say? ", *LONG], "delay_between": 0.01, "thought": MARKER})
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text=SECRET, client_id="1")
        frames = await socket.until("reply.piece")
        message = await in_thread(
            Message.objects.select_related("companion").get, pk=frames[0]["message"]["id"]
        )
        await in_thread(delete_message, message, timezone.now())
        ending = (await socket.until(*ENDINGS))[-1]
        assert (ending["type"], ending["message"]) == ("reply.stopped", None)
        assert await places() == {}
        assert await in_thread(Message.objects.filter(companion=mira).count) == 0
        rehearsal.script({"answer": "Hello again."})
        assert (await said(socket, "Hello"))[-1]["message"]["text"] == "Hello again."


@pytest.mark.parametrize("is_recalled", [False, True])
async def test_a_reply_under_way_that_was_shown_what_is_deleted_ends_without_it(
    alice: User, mira: Companion, rehearsal: RehearsalServer, is_recalled: bool
) -> None:
    rehearsal.script(
        {"answer": "Kept."},
        {"pieces": ["Let me see. ", *LONG], "delay_between": 0.01, "thought": f"{MARKER}!"},
    )
    async with connected(alice, mira) as socket:
        frames = await said(socket, SECRET)
        if is_recalled:
            await in_thread(end_session, mira)
        await socket.send("message.send", text="Tell me of my locker's password", client_id="2")
        piece = (await socket.until("reply.piece"))[-1]
        assert MARKER in str(rehearsal.requests()[-1])
        await eventually(lambda: Reply.objects.get(pk=piece["id"]).text)
        message = await in_thread(
            Message.objects.select_related("companion").get, pk=frames[0]["message"]["id"]
        )
        await in_thread(delete_message, message, timezone.now())
        ending = (await socket.until(*ENDINGS))[-1]
    assert (ending["type"], ending["code"]) == ("reply.interrupted", "cut_off")
    assert ending["detail"]
    assert ending["message"]["text"].startswith("Let me see. ")
    await asyncio.sleep(0.3)
    assert await places() == {}
    assert await in_thread(ModelCall.objects.filter(outcome="running").count) == 0


async def test_what_is_deleted_between_two_rounds_of_tools_is_not_sent_again(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    look = {"name": "recall", "arguments": {"cue": "password of the locker"}}
    rehearsal.script(
        {"answer": "Kept."},
        {"pieces": ["Let me look. ", *["so "] * 60], "delay_between": 0.01, "tool_calls": [look]},
        {"answer": "Never to be asked."},
    )
    async with connected(alice, mira) as socket:
        frames = await said(socket, SECRET)
        await socket.send("message.send", text="Good evening", client_id="2")
        await socket.until("reply.piece")
        message = await in_thread(
            Message.objects.select_related("companion").get, pk=frames[0]["message"]["id"]
        )
        await in_thread(delete_message, message, timezone.now())
        assert (await socket.until(*ENDINGS))[-1]["type"] == "reply.interrupted"
    await asyncio.sleep(0.8)
    assert len(rehearsal.requests()) == 2
    assert await places() == {}
    assert await in_thread(Prompt.objects.filter(companion=mira).count) == 0


async def test_a_provider_that_quotes_what_was_deleted_meanwhile_is_not_kept(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"answer": "Kept."}, {"pieces": ["So "] * 30, "delay_between": 0.02, "cut_after": 30})
    async with connected(alice, mira) as socket:
        frames = await said(socket, SECRET)
        await socket.send("message.send", text="Good evening", client_id="2")
        await socket.until("reply.piece")
        call = await in_thread(ModelCall.objects.order_by("-started_at").first)
        message = await in_thread(
            Message.objects.select_related("companion").get, pk=frames[0]["message"]["id"]
        )
        await in_thread(delete_message, message, timezone.now())
        await socket.until(*ENDINGS)
    await eventually(lambda: ModelCall.objects.exclude(outcome="running").filter(pk=call.pk).exists())
    assert (await in_thread(ModelCall.objects.get, pk=call.pk)).said == ""


async def test_a_companion_deleted_while_it_answers_leaves_nothing(
    alice: User, mira: Companion, tian: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"pieces": [f"{MARKER}? ", *LONG], "delay_between": 0.01})
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text=SECRET, client_id="1")
        await socket.until("reply.piece")
        await in_thread(delete_companion, mira)
        assert (await socket.until(*ENDINGS))[-1]["type"] == "reply.stopped"
    await asyncio.sleep(0.3)
    assert await places() == {}
    assert await in_thread(ModelCall.objects.filter(user=alice).count) == 1


async def test_replies_and_deletions_at_once_neither_wait_for_each_other_nor_bring_anything_back(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script(*({"answer": f"Answer {number}."} for number in range(12)))

    async def delete_all() -> None:
        while await in_thread(Message.objects.filter(companion=mira, role="user").count) < 12:
            await asyncio.sleep(0.02)  # whoever answers needs the database, too
            for message in await in_thread(lambda: list(Message.objects.filter(text__contains=MARKER))):
                await in_thread(delete_message, message, timezone.now())

    deleting = asyncio.create_task(delete_all())
    async with connected(alice, mira) as socket:
        for number in range(24):
            text = f"{SECRET} {number}" if number % 2 else f"Plain {number}"
            await socket.send("message.send", text=text, client_id=str(number))
            await asyncio.sleep(0.02)
        embedding = asyncio.create_task(in_thread(embed_waiting, mira.pk))
        await asyncio.wait_for(deleting, 60)
        await eventually(lambda: not Reply.objects.filter(state__in=Reply.OPEN).exists(), 60)
        await embedding
    for message in await in_thread(lambda: list(Message.objects.filter(text__contains=MARKER))):
        await in_thread(delete_message, message, timezone.now())
    assert await in_thread(Reply.objects.filter(state__in=Reply.OPEN).count) == 0
    assert await places() == {}

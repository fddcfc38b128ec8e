"""A reply's emotions: told as data beside its text, and never as text."""

import re
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.utils import timezone

from accounts.models import ModelCall, User
from companions.answers.emotion_tags import split_emotions
from companions.models import Companion, Message, Prompt, Reply
from companions.pasts.log_import import Line, import_log
from companions.prompting.turn_prompt import RULES
from companions.replies import streams
from companions.replies.broadcast import Publisher
from companions.replies.checkpoint import seal_and_read
from companions.replies.lifecycle import claim, process_name, start
from companions.replies.turn import end_lost
from jobs.background import in_thread
from memory.emotion import Emotion
from memory.models import Memory
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.rest import Api
from tests.fixtures.turns import connected

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("web")]
ENDINGS = ("reply.done", "reply.stopped", "reply.interrupted", "reply.failed", "error")
CUT = ["<em", "otion cur", "ious 0.", "4>", " Oh? ", "<EMOTION", " Happy 0.9", "> How ", "lovely, 1 <", " 2!"]
TEXT = "Oh? How lovely, 1 < 2!"
FELT = [
    {"at": 0, "emotion": "curious", "intensity": 0.4},
    {"at": 4, "emotion": "happy", "intensity": 0.9},
]


def felt(frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    names = ("at", "emotion", "intensity")
    return [{name: one[name] for name in names} for one in frames if one["type"] == "reply.emotion"]


async def test_an_emotion_comes_as_a_frame_and_never_as_text(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    thought = "I could begin with <emotion curious 0.4>, then say it."
    rehearsal.script({"pieces": CUT, "thought": thought, "delay_between": 0.02})
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="I have a puppy!", client_id="1")
        frames = await socket.until(*ENDINGS)
    assert felt(frames) == FELT
    assert "".join(one["text"] for one in frames if one["type"] == "reply.piece") == TEXT
    assert frames[-1]["message"]["text"] == TEXT
    assert "emotion" not in "".join(one["text"] for one in frames if one["type"] == "reply.thought")
    numbers = [one["seq"] for one in frames if "seq" in one]
    assert numbers == list(range(1, len(numbers) + 1))
    reply = await in_thread(Reply.objects.get)
    assert (reply.text, reply.emotions) == (TEXT, FELT)
    assert "<" not in reply.thought


async def test_no_memory_holds_a_tag_and_the_next_prompt_shows_them_in_their_places(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"pieces": CUT}, {"answer": "Yes."})
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="I have a puppy!", client_id="1")
        await socket.until(*ENDINGS)
        await socket.send("message.send", text="Lovely, is it not?", client_id="2")
        await socket.until(*ENDINGS)
    texts = await in_thread(lambda: [*Memory.objects.values_list("text", flat=True)])
    texts += await in_thread(lambda: [*Message.objects.values_list("text", flat=True)])
    assert texts.count(TEXT) == 2
    assert not any("emotion" in text for text in texts)
    history = rehearsal.requests()[1]["messages"][1:]
    shown = {
        "role": "assistant",
        "content": "<emotion curious 0.4> Oh? <emotion happy 0.9> How lovely, 1 < 2!",
    }
    assert history[1] == shown
    assert str(history).count("<emotion") == 2


async def test_whoever_resumes_is_told_the_emotion_too(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"pieces": CUT, "delay_between": 0.02})
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="I have a puppy!", client_id="1")
        ended = (await socket.until(*ENDINGS))[-1]
        await socket.send("reply.resume", id=ended["id"], after=0)
        assert felt(await socket.until(*ENDINGS)) == FELT
        await streams.delete_stream(ended["id"])
        await socket.send("reply.resume", id=ended["id"], after=0)
        frames = await socket.until(*ENDINGS)
    assert felt(frames) == FELT[-1:]
    assert frames[0]["text"] == TEXT


async def test_the_interface_gives_them_with_the_reply(
    mira: Companion, rehearsal: RehearsalServer, as_alice: Api
) -> None:
    rehearsal.script({"pieces": CUT})
    turn = await as_alice.apost(f"/companions/{mira.pk}/messages", {"text": "I have a puppy!"})
    reply = orjson.loads(turn.content)["reply"]
    assert (reply["text"], reply["emotions"]) == (TEXT, FELT)
    streamed = {"Accept": "text/event-stream"}
    rehearsal.script({"pieces": CUT, "delay_between": 0.05})  # each comes alone: what is cut stays cut
    events = await as_alice.apost(f"/companions/{mira.pk}/messages", {"text": "And now?"}, **streamed)
    body = b"".join([part async for part in events.streaming_content]).decode()
    frames = _frames(body)
    assert [one["emotion"] for one in felt(frames)] == ["curious", "happy"]
    pieces = "".join(frame["text"] for frame in frames if frame["type"] == "reply.piece")
    others = [frame for frame in frames if frame["type"] != "reply.piece"]
    assert "<" not in (pieces + orjson.dumps(others).decode()).replace("1 < 2", "")


def _frames(body: str) -> list[dict[str, Any]]:
    return [orjson.loads(line[6:]) for line in body.splitlines() if line.startswith("data: ")]


async def test_answers_of_nothing_but_a_tag_say_nothing(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"answer": "<emotion awkward 0.8>"}, {"answer": ""})
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="Say nothing", client_id="1")
        frames = await socket.until(*ENDINGS)
    assert felt(frames) == [{"at": 0, "emotion": "awkward", "intensity": 0.8}]
    assert (frames[-1]["type"], frames[-1]["code"]) == ("reply.failed", "empty_answer")
    assert frames[-1]["message"] is None


async def test_a_stop_within_a_tag_leaves_nothing_of_it(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"pieces": ["Once upon ", "<emotion ", "hap", "py>"], "hang_after": 3})
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="Tell me", client_id="1")
        frames = await socket.until("reply.piece")
        await socket.send("reply.stop", id=frames[-1]["id"])
        frames += await socket.until(*ENDINGS)
    assert frames[-1]["message"]["text"] == "Once upon "


async def test_what_a_dead_process_had_said_holds_no_tag_and_its_emotions_once(mira: Companion) -> None:
    """The row holds the first of them, the stream both."""
    now = timezone.now()
    reply = (await in_thread(start, mira, "I have a puppy!", None, now)).reply
    assert await in_thread(claim, reply.pk, now)
    await in_thread(Reply.objects.filter(pk=reply.pk).update, emotions=FELT[:1])
    publisher = Publisher(mira.pk, reply.pk)
    publisher.send("reply.emotion", **FELT[0])
    publisher.add("reply.piece", "Oh? ")
    publisher.send("reply.emotion", **FELT[1])
    publisher.add("reply.piece", "How lovely")
    await publisher.close()
    said = await in_thread(lambda: seal_and_read(Reply.objects.get()))
    assert (said.text, said.emotions) == ("Oh? How lovely", FELT)
    await in_thread(Reply.objects.filter(pk=reply.pk).update, lease_by=process_name())
    await end_lost(reply.pk, lambda: now + timedelta(minutes=1))
    row = await in_thread(Reply.objects.get)
    assert (row.state, row.text, row.emotions) == ("interrupted", "Oh? How lovely", FELT)
    assert row.code == "cut_off"


async def test_what_goes_on_keeps_the_emotions_it_had(
    alice: User, mira: Companion, rehearsal: RehearsalServer, as_alice: Api
) -> None:
    rehearsal.script(
        {"pieces": ["<emotion sad 0.6>Once ", "upon"], "cut_after": 2},
        {"answer": " a time<emotion happy 0.7> all was well."},
    )
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="Tell me", client_id="1")
        failed = (await socket.until(*ENDINGS))[-1]
        again = await as_alice.apost(f"/replies/{failed['id']}/continue")
        assert again.status_code == 201
        await socket.until(*ENDINGS)
    reply = await in_thread(Reply.objects.order_by("-created_at").first)
    assert reply is not None
    assert reply.text == "Once upon a time all was well."
    assert [one["emotion"] for one in reply.emotions] == ["sad", "happy"]
    assert reply.text[reply.emotions[1]["at"] :] == " all was well."


async def test_a_flood_of_tags_is_cut(alice: User, mira: Companion, rehearsal: RehearsalServer) -> None:
    rehearsal.script({"answer": "<emotion happy 1><emotion sad 1>" * 500 + "Done."})
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="Go wild", client_id="1")
        frames = await socket.until(*ENDINGS)
    assert len(felt(frames)) == 100
    assert frames[-1]["message"]["text"] == "Done."
    assert await in_thread(lambda: ModelCall.objects.get().outcome) == ModelCall.Outcome.DONE
    assert await in_thread(Prompt.objects.count) == 1


def test_a_log_that_a_model_wrote_is_taken_in_without_tags(mira: Companion) -> None:
    now = timezone.now()
    texts = [
        ("user", "Write <emotion happy 1> on the wall."),
        ("assistant", "<emotion awkward 0.5> Where?"),
        ("assistant", "<emotion sad>"),
    ]
    lines = [Line(role=role, text=text, at=now, client_id=text) for role, text in texts]
    for _ in range(2):  # the second time all is here already
        import_log(mira, lines, now)
    kept = ["Write <emotion happy 1> on the wall.", "Where?"]
    assert [one.text for one in Message.objects.order_by("-role")] == kept
    assert sorted(Memory.objects.values_list("text", flat=True)) == sorted(kept)


def test_rules_and_parser_agree_on_the_names() -> None:
    """The example in the rules is a tag that is read, and each emotion is among the names."""
    assert [one.emotion for one in split_emotions(RULES)[1]] == [Emotion.HAPPY]
    assert all(re.search(rf"\b{one}\b", RULES) for one in Emotion.values)

"""A reply's sentences are spoken one by one, as soon as each is complete, once each, and only to whom they belong."""

import asyncio
import base64
import io
from typing import Any

import av
import numpy as np
import pytest

from accounts.models import SoundCall, User
from companions.models import Companion, Reply
from companions.replies.broadcast import Publisher
from files.models import StoredFile
from jobs.background import in_thread
from providers.sound import Sound, encode_mp3, encode_wav, read
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.sound import hum
from tests.fixtures.turns import connected
from tests.voice.speeches import Listener, answered, begun, contents, said_by_itself
from voice.models import Speech, Spoken, Voice
from voice.speech import sound
from voice.speech.spoken_text import wait_for_sentence

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("web")]
ENGLISH = (
    "Good evening, Alice. 🙂 *smiles* I have been thinking about your exam on Friday. Are you ready for it?"
)
CHINESE = "晚上好。我一直在想你星期五的考试，你准备好了吗？我们一起复习吧！"


@pytest.fixture
def espeak(settings: Any) -> None:
    """The embedded default: espeak-ng of this machine."""
    settings.SPEECH = settings.SPEECH | {"engine": "espeak", "seconds": 20.0}


@pytest.fixture
def listener(alice: User, mira: Companion) -> Listener:
    return Listener(alice, mira)


async def all_of(listener: Listener, reply: Reply) -> list[Any]:
    """The answers for each sentence, up to the one that says that there is no other."""
    heard = [await listener.hear(reply, 0)]
    while heard[-1].status_code == 200:
        heard.append(await listener.hear(reply, len(heard)))
    return heard


# -- the embedded default ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("espeak")
@pytest.mark.parametrize(("text", "count", "pace"), [(ENGLISH, 3, (6, 30)), (CHINESE, 3, (1.5, 9))])
async def test_a_reply_is_spoken_from_end_to_end(
    listener: Listener, mira: Companion, text: str, count: int, pace: tuple[float, float]
) -> None:
    reply = await in_thread(answered, mira, text)
    *sentences, last = await all_of(listener, reply)
    assert [one.status_code for one in sentences] == [200] * count
    assert last.status_code == 204
    end = 0
    for one in sentences:
        start, until = int(one["X-Kith-Start"]), int(one["X-Kith-End"])
        assert end <= start < until <= len(text)
        sound = read(one.content, 60)
        letters = sum(map(str.isalnum, text[start:until].replace("*smiles*", "")))
        assert pace[0] < letters / sound.seconds < pace[1]
        assert not sound.is_silent
        assert float(one["X-Kith-Seconds"]) == pytest.approx(sound.seconds, abs=0.15)
        end = until
    assert text[end:].strip() == ""


@pytest.mark.usefixtures("espeak")
async def test_what_is_heard_says_that_a_machine_made_it(listener: Listener, mira: Companion) -> None:
    heard = await listener.hear(await in_thread(answered, mira, "Good evening."), 0)
    assert heard["Content-Type"] == "audio/mpeg"
    assert heard["Cache-Control"] == "private, no-store"
    with av.open(io.BytesIO(heard.content)) as container:
        marks = {name.lower(): value for name, value in container.metadata.items()}
    assert marks["ai-generated"] == "true"


# -- while it comes -----------------------------------------------------------------------------------------------


async def test_a_sentence_is_spoken_while_the_reply_still_comes(
    speech_rehearsal: RehearsalServer, listener: Listener, alice: User, mira: Companion
) -> None:
    speech_rehearsal.script({"pieces": ["Good eve", "ning. I ", "am ", "here", "."], "delay_between": 0.6})
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="Hello", client_id="one")
        (saved,) = await socket.until("message.saved")
        reply = await in_thread(Reply.objects.get, pk=saved["reply"]["id"])
        first = await listener.hear(reply, 0, wait="20")
        assert (await in_thread(Reply.objects.get, pk=reply.pk)).is_open
        await socket.until("reply.done")
    second, third = await listener.hear(reply, 1), await listener.hear(reply, 2)
    assert [one.status_code for one in (first, second, third)] == [200, 200, 204]
    assert [one["input"] for one in speech_rehearsal.sound_requests()] == [
        "Good evening.",
        "I am here.",
    ]


async def test_frames_of_an_open_reply_tell_its_sentences_and_emotions(
    speech_rehearsal: RehearsalServer, listener: Listener, mira: Companion
) -> None:
    reply = await in_thread(begun, mira)
    hearing = asyncio.create_task(listener.hear(reply, 1, wait="20"))
    publisher = Publisher(mira.pk, reply.pk)
    publisher.send("reply.started", message_id=str(reply.message_id), text="", after=0)
    publisher.add("reply.piece", "Hello. ")
    publisher.send("reply.emotion", at=7, emotion="happy", intensity=0.8)
    publisher.add("reply.piece", "You came! ")
    publisher.add("reply.piece", "And")
    heard = await hearing
    assert (heard["X-Kith-Start"], heard["X-Kith-End"]) == ("7", "16")
    assert (heard["X-Kith-Emotion"], heard["X-Kith-Intensity"]) == ("happy", "0.8")
    await publisher.close()


async def test_what_is_not_said_yet_can_be_asked_for_again(
    speech_rehearsal: RehearsalServer, listener: Listener, mira: Companion
) -> None:
    reply = await in_thread(begun, mira, "Hello. I was jus")
    early = await listener.hear(reply, 0, wait="0")
    assert early.status_code == 409
    assert early.json()["code"] == "not_said_yet"
    assert speech_rehearsal.sound_requests() == []


async def test_a_reply_that_is_gone_has_no_more_sentences(
    speech_rehearsal: RehearsalServer, listener: Listener, mira: Companion, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_waited_for = asyncio.Event()

    def wait(*arguments: Any) -> Any:
        is_waited_for.set()
        return wait_for_sentence(*arguments)

    monkeypatch.setattr(sound, "wait_for_sentence", wait)
    reply = await in_thread(begun, mira, "Hello")
    hearing = asyncio.create_task(listener.hear(reply, 0, wait="20"))
    await is_waited_for.wait()
    await in_thread(Reply.objects.filter(pk=reply.pk).delete)
    assert (await hearing).status_code == 204


# -- once ---------------------------------------------------------------------------------------------------------


async def test_what_was_spoken_is_found_again(
    speech_rehearsal: RehearsalServer, listener: Listener, mira: Companion
) -> None:
    reply = await in_thread(answered, mira, "Good evening. Good evening.")
    first = await listener.hear(reply, 0)
    again, other = await listener.hear(reply, 0), await listener.hear(reply, 1)
    assert first.content == again.content == other.content
    assert len(speech_rehearsal.sound_requests()) == 1
    assert await in_thread(Speech.objects.count) == 1
    assert sorted(await in_thread(lambda: list(Spoken.objects.values_list("number", flat=True)))) == [0, 1]
    file = await in_thread(StoredFile.objects.get)
    assert (file.kind, file.content_type, file.companion_id) == ("speech", "audio/mpeg", mira.pk)


async def test_the_message_and_its_reply_are_the_same_speech(
    speech_rehearsal: RehearsalServer, listener: Listener, mira: Companion
) -> None:
    reply = await in_thread(answered, mira, "Good evening.")
    assert reply.answer
    heard = [await listener.hear(reply, 0), await listener.hear(reply.answer, 0)]
    assert heard[0].content == heard[1].content
    assert await in_thread(Spoken.objects.count) == 1


async def test_a_message_that_no_reply_became_is_spoken_too(
    speech_rehearsal: RehearsalServer, listener: Listener, mira: Companion
) -> None:
    message = await in_thread(said_by_itself, mira, "I thought of you.")
    assert (await listener.hear(message, 0)).status_code == 200
    assert (await in_thread(Spoken.objects.get)).message_id == message.pk


async def test_who_asks_at_the_same_time_shares_one_making(
    speech_rehearsal: RehearsalServer, listener: Listener, mira: Companion
) -> None:
    speech_rehearsal.script_sound({"delay": 4.0})  # in which the slowest machine has heard all three
    reply = await in_thread(answered, mira, "Good evening.")
    heard = await listener.hear_at_once(reply, 0, wait="20", times=3)
    assert {one.status_code for one in heard} == {200}
    assert len(speech_rehearsal.sound_requests()) == 1


async def test_another_voice_is_another_speech(
    speech_rehearsal: RehearsalServer, listener: Listener, mira: Companion
) -> None:
    reply = await in_thread(answered, mira, "Good evening.")
    await listener.hear(reply, 0)
    await in_thread(Voice.objects.create, companion=mira, name="nova", speed=1.5)
    await listener.hear(reply, 0)
    first, second = (one for one in speech_rehearsal.sound_requests())
    assert (first["voice"], "speed" in first) == ("rehearsal", False)
    assert (second["voice"], second["speed"]) == ("nova", 1.5)
    assert await in_thread(Speech.objects.count) == 1  # nothing is spoken by the first one any more
    assert await in_thread(contents) == 1


async def test_a_lost_content_is_made_again(
    speech_rehearsal: RehearsalServer, listener: Listener, mira: Companion, folder: Any
) -> None:
    reply = await in_thread(answered, mira, "Good evening.")
    await listener.hear(reply, 0)
    for path in [one for one in folder.rglob("*") if one.is_file()]:
        path.unlink()
    assert (await listener.hear(reply, 0)).status_code == 200
    assert len(speech_rehearsal.sound_requests()) == 2


# -- what goes wrong ----------------------------------------------------------------------------------------------


SILENCE = encode_wav(Sound(np.zeros(24_000, dtype=np.int16), 24_000))
CUT = encode_mp3(hum(2.0), {})[:2000]


@pytest.mark.parametrize(
    "step",
    [
        {"error": {"status": 500}},
        {"html": True},
        {"body": ""},
        {"body": base64.b64encode(SILENCE).decode()},
        {"body": base64.b64encode(CUT).decode()},
    ],
    ids=["an error", "a page", "nothing", "silence", "a cut sound"],
)
async def test_an_engine_that_fails_says_so_and_the_words_stay(
    speech_rehearsal: RehearsalServer, listener: Listener, mira: Companion, step: dict[str, Any]
) -> None:
    speech_rehearsal.script_sound({**step, "repeat": 3})
    reply = await in_thread(answered, mira, "Good evening, Alice, how are you?")
    heard = await listener.hear(reply, 0)
    assert heard.status_code == 503
    assert heard.json()["code"] == "speech_unavailable"
    assert (await in_thread(SoundCall.objects.first)).outcome == SoundCall.Outcome.UNAVAILABLE
    assert await in_thread(contents) == await in_thread(StoredFile.objects.count) == 0
    assert reply.answer
    assert reply.answer.text == "Good evening, Alice, how are you?"


async def test_a_voice_that_the_engine_does_not_have_gives_way_to_its_own(
    speech_rehearsal: RehearsalServer, listener: Listener, mira: Companion
) -> None:
    speech_rehearsal.script_sound({"error": {"status": 400}})
    await in_thread(Voice.objects.create, companion=mira, name="of another engine")
    heard = await listener.hear(await in_thread(answered, mira, "Good evening."), 0)
    assert heard.status_code == 200
    assert [one["voice"] for one in speech_rehearsal.sound_requests()] == [
        "of another engine",
        "rehearsal",
    ]


async def test_who_leaves_stops_the_engine(
    speech_rehearsal: RehearsalServer, listener: Listener, mira: Companion
) -> None:
    speech_rehearsal.script_sound({"delay": 30})
    reply = await in_thread(answered, mira, "Good evening.")
    hearing = asyncio.create_task(listener.hear(reply, 0))
    while not speech_rehearsal.sound_requests():
        await asyncio.sleep(0.05)
    hearing.cancel()
    await asyncio.gather(hearing, return_exceptions=True)
    for _ in range(100):
        if call := await in_thread(SoundCall.objects.first):
            break
        await asyncio.sleep(0.05)
    assert call
    assert call.outcome == SoundCall.Outcome.STOPPED
    assert await in_thread(contents) == await in_thread(Speech.objects.count) == 0


async def test_only_so_many_are_made_at_once(
    speech_rehearsal: RehearsalServer, listener: Listener, mira: Companion, settings: Any
) -> None:
    settings.SPEECH = settings.SPEECH | {"at_once": 1}
    speech_rehearsal.script_sound({"delay": 0.5, "repeat": 2})
    reply = await in_thread(answered, mira, "One is here. Two is here.")
    hearing = asyncio.gather(*(listener.hear(reply, number) for number in range(2)))
    while not speech_rehearsal.sound_requests():
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.2)
    assert len(speech_rehearsal.sound_requests()) == 1
    assert [one.status_code for one in await hearing] == [200, 200]


async def test_the_days_characters_are_held(
    speech_rehearsal: RehearsalServer, listener: Listener, mira: Companion, settings: Any
) -> None:
    settings.SPEECH_CHARACTERS_PER_DAY = 20
    reply = await in_thread(answered, mira, "Good evening. How have you been?")
    first, second, again = [await listener.hear(reply, number) for number in (0, 1, 0)]
    assert (first.status_code, second.status_code, again.status_code) == (200, 429, 200)
    assert second.json()["code"] == "no_speech_left"
    assert int(second["Retry-After"]) > 0
    call = await in_thread(SoundCall.objects.get)
    assert (call.characters, call.companion_id) == (len("Good evening."), mira.pk)


async def test_without_room_it_is_heard_and_not_kept(
    speech_rehearsal: RehearsalServer, listener: Listener, mira: Companion, settings: Any
) -> None:
    settings.FILES_BYTES_EACH = 10
    heard = await listener.hear(await in_thread(answered, mira, "Good evening."), 0)
    assert heard.status_code == 200
    assert not read(heard.content, 60).is_silent
    assert await in_thread(StoredFile.objects.count) == await in_thread(Spoken.objects.count) == 0


@pytest.mark.usefixtures("no_sound_providers")
async def test_without_an_engine_the_browser_is_told_what_to_say(listener: Listener, mira: Companion) -> None:
    reply = await in_thread(answered, mira, "Good **evening** 🙂. Are you there?")
    heard, after = await listener.hear(reply, 0), await listener.hear(reply, 2)
    assert heard.status_code == 409
    told = heard.json()
    assert (told["code"], told["text"]) == ("browser_speaks", "Good evening.")
    assert (told["start"], told["end"], told["language"], told["speed"]) == (0, 19, "en", 1.0)
    assert after.status_code == 204


async def test_nobody_hears_anothers_words(
    speech_rehearsal: RehearsalServer, mallory: User, alice: User, mira: Companion, tian: Companion
) -> None:
    reply = await in_thread(answered, mira, "Good evening.")
    assert reply.answer
    stranger = Listener(mallory, mira)
    for thing in (reply, reply.answer):
        assert (await stranger.hear(thing, 0)).status_code == 404
        assert (await Listener(alice, tian).hear(thing, 0)).status_code == 404
    assert speech_rehearsal.sound_requests() == []

"""Bad sound and bad frames in a call: each a clear error, and the call goes on."""

import pytest

from accounts.models import User
from companions.models import Companion, Message
from files.models import StoredFile
from providers.sound import encode_wav
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.sound import hum
from tests.voice.call.calls import ENDINGS, calling, say
from tests.voice.call.test_utterances import WAV, header
from tests.voice.recordings import hears

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("web", "rehearsal", "speech_rehearsal"),
]


BAD = {
    "one byte": (b"R", "no_sound"),
    "no_samples": (header(length=0), "empty"),
    "text": (b"hello there", "no_sound"),
    "cut in its header": (WAV[:20], "no_sound"),
    "no format": (b"RIFF\0\0\0\0WAVE" + b"data\x04\0\0\0abcd", "no_sound"),
    "a format cut short": (b"RIFF\0\0\0\0WAVEfmt \x04\0\0\0\x01\0\x01\0", "no_sound"),
    "two channels": (header(channels=2) + b"\1\2" * 16_000, "no_sound"),
    "floats": (header(coding=3, bits=32) + b"\1\2" * 16_000, "no_sound"),
    "one sample a second": (header(rate=1) + b"\1\2" * 16_000, "no_sound"),
    "four billion samples a second": (header(rate=2**32 - 1) + b"\1\2" * 16_000, "no_sound"),
    "a minute and more": (encode_wav(hum(60.5)), "too_long"),
    "a minute of a low rate and more": (header(rate=8_000, length=2**32 - 1) + b"\1\2" * 490_000, "too_long"),
    "far too much": (header(rate=48_000, length=2**32 - 1) + bytes(7_000_000), "too_long"),
    "endless parts": (b"RIFF\0\0\0\0WAVE" + b"junk\0\0\0\0" * 100_000, "no_sound"),
    "a part that is longer than all": (b"RIFF\0\0\0\0WAVEjunk\xff\xff\xff\xff" + WAV, "no_sound"),
    "an mp3": (b"ID3\x04" + bytes(1000), "no_sound"),
}


async def test_bad_sound_is_refused_and_the_next_is_heard(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script_sound(hears("Here I am."))
    async with calling(alice, mira) as call:
        for name, (content, code) in BAD.items():
            await say(call, name, content)
            error = await call.frame()
            assert (error["type"], error["code"], error["client_id"]) == ("error", code, name)
            assert error["detail"]
        await say(call, "good")
        assert (await call.until(*ENDINGS))[-1]["type"] == "reply.done"
    assert await Message.objects.filter(role="user").acount() == 1
    assert len(rehearsal.sound_requests()) == 1
    assert await StoredFile.objects.acount() == 1


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ('{"type": "call.utterance"}', "bad_frame"),
        ('{"type": "call.utterance", "client_id": ""}', "bad_frame"),
        ('{"type": "call.utterance", "client_id": "a\\u0000"}', "bad_frame"),
        ('{"type": "call.utterance", "client_id": "a", "language": "en-GB-and-much-more"}', "bad_frame"),
        ('{"type": "reply.heard", "id": "7", "until": 0}', "bad_frame"),
        ('{"type": "reply.heard", "id": "00000000-0000-4000-8000-000000000000", "until": -1}', "bad_frame"),
        (
            '{"type": "reply.heard", "id": "00000000-0000-4000-8000-000000000000", "until": 1}',
            "no_such_reply",
        ),
        ('{"type": "call.hang_up"}', "unknown_frame"),
    ],
)
async def test_a_bad_frame_gets_an_error(alice: User, mira: Companion, frame: str, code: str) -> None:
    async with calling(alice, mira) as call:
        await call.wire.send_to(text_data=frame)
        error = await call.frame()
        assert (error["type"], error["code"]) == ("error", code)


async def test_bytes_without_their_frame_are_refused(alice: User, mira: Companion) -> None:
    async with calling(alice, mira) as call:
        await call.wire.send_to(bytes_data=WAV)
        assert (await call.frame())["code"] == "bad_frame"
        await say(call, "good")
        await call.until(*ENDINGS)
        await call.wire.send_to(bytes_data=WAV)
        assert (await call.frame())["code"] == "bad_frame"


async def test_an_utterance_without_its_recording_is_refused(alice: User, mira: Companion) -> None:
    async with calling(alice, mira) as call:
        for client_id in ("lost", "next"):
            await call.wire.send_to(text_data=f'{{"type": "call.utterance", "client_id": "{client_id}"}}')
        refused = await call.frame()
    assert (refused["code"], refused["client_id"]) == ("bad_frame", "lost")


async def test_more_than_a_few_at_once_are_refused(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script_sound(*(hears("One.", delay=1.0) for _ in range(6)))
    async with calling(alice, mira) as call:
        for number in range(6):
            await say(call, str(number))
        refused = await call.until("error")
    assert refused[-1]["code"] == "too_many_waiting"


async def test_the_gate_holds_in_a_call(
    alice: User, mira: Companion, rehearsal: RehearsalServer, settings
) -> None:
    settings.HEARING_SECONDS_PER_DAY = 1
    rehearsal.script_sound(hears("One."))
    async with calling(alice, mira) as call:
        await say(call, "one", encode_wav(hum(0.9)))
        await call.until("reply.done")
        await say(call, "two", encode_wav(hum(0.9)))
        error = (await call.until("error"))[-1]
    assert (error["code"], error["client_id"]) == ("no_hearing_left", "two")
    assert len(rehearsal.sound_requests()) == 1

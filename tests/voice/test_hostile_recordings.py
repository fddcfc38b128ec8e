"""What is no recording is refused with a clear sentence; what was written or said before it stays as it was."""

import gzip
import struct
from collections.abc import Callable
from io import BytesIO

import av
import numpy as np
import orjson
import pytest
from av.audio.frame import AudioFrame

from accounts.models import User
from companions.models import Companion, Message
from files.models import StoredFile
from jobs.background import in_thread
from providers.sound import Sound, wav
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.sound import hum
from tests.voice.recordings import SAID, Browser, hears, recorded, upload
from voice.models import Recording

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("web")]
HOUR = 3_600


def encoded(sound: Sound, container: str, codec: str, rate: int) -> bytes:
    """The sound as a browser's recorder would send it."""
    file = BytesIO()
    with av.open(file, "w", format=container) as out:
        stream = out.add_stream(codec, rate=rate, layout="mono")
        frame = AudioFrame.from_ndarray(sound.samples.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = sound.rate
        resampler = av.AudioResampler(format=stream.format.name, layout="mono", rate=rate)
        size = stream.codec_context.frame_size or 1024
        fifo = av.AudioFifo()
        for part in resampler.resample(frame):
            fifo.write(part)
        for part in [*fifo.read_many(size, partial=True), None]:
            out.mux(stream.encode(part))
    return file.getvalue()


def silence(seconds: float) -> bytes:
    return wav(Sound(np.zeros(round(seconds * 16_000), np.int16), 16_000))


def three_hours() -> bytes:
    """Less than a megabyte that is three hours of nothing."""
    return encoded(Sound(np.zeros(3 * HOUR * 8_000, np.int16), 8_000), "flac", "flac", 8_000)


def with_header(rate: int, size: int, samples: bytes) -> bytes:
    """A WAV that says this of itself, whatever comes after."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate, rate * 2, 2, 16)
    return b"RIFF" + struct.pack("<I", size) + b"WAVE" + form + b"data" + struct.pack("<I", size) + samples


def two_headed() -> bytes:
    """A page to a browser that sniffs, a sound to nobody."""
    return b"<!doctype html><script>alert(1)</script>" + wav(hum(0.5))


def random(number: int) -> bytes:
    return np.random.default_rng(number).bytes(20_000)


def broken(number: int) -> bytes:
    """A recording with a twentieth of its bytes turned round."""
    content = bytearray(encoded(hum(1.0), "webm", "libopus", 48_000))
    picks = np.random.default_rng(number).integers(0, 200, 20)
    for at in picks:
        content[at] ^= 0xFF
    return bytes(content)


Make = Callable[[], bytes]
REFUSED: dict[str, tuple[Make, int, set[str]]] = {
    "nothing": (lambda: b"", 422, {"empty"}),
    "one byte": (lambda: b"\x00", 422, {"no_sound"}),
    "a text": (lambda: b"Hello, I am a recording. " * 100, 422, {"no_sound"}),
    "a page": (lambda: b"<!doctype html><script>alert(1)</script>", 422, {"no_sound"}),
    "a drawing with a script": (
        lambda: b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>",
        422,
        {"no_sound"},
    ),
    "a picture": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(2_000), 422, {"no_sound"}),
    "a page before a sound": (two_headed, 422, {"no_sound"}),
    "a program": (lambda: b"\x7fELF" + bytes(5_000), 422, {"no_sound"}),
    "a list of addresses": (lambda: b"#EXTM3U\nhttp://127.0.0.1:9/a.ts\n", 422, {"no_sound"}),
    "a list of files": (lambda: b"ffconcat version 1.0\nfile /etc/passwd\n", 422, {"no_sound"}),
    "an archive that grows": (lambda: gzip.compress(bytes(5_000_000)), 422, {"no_sound"}),
    "chance": (lambda: random(1), 422, {"no_sound"}),
    "a head of webm and chance": (lambda: b"\x1a\x45\xdf\xa3" + random(2), 422, {"no_sound", "empty"}),
    "a head of ogg and chance": (lambda: b"OggS" + random(3), 422, {"no_sound", "empty"}),
    "a head of mp4 and chance": (lambda: b"\x00\x00\x00\x20ftypisom" + random(4), 422, {"no_sound", "empty"}),
    "a WAV without samples": (lambda: with_header(16_000, 0, b""), 422, {"empty", "no_sound"}),
    "a WAV of no rate": (lambda: with_header(0, 4_000, bytes(4_000)), 422, {"no_sound", "empty", "silent"}),
    "silence": (lambda: silence(2.0), 422, {"silent"}),
    "a hum that nobody hears": (lambda: wav(hum(1.0, loud=0.0005)), 422, {"silent"}),
    "three hours": (three_hours, 422, {"too_long"}),
    "five minutes and a second": (lambda: wav(hum(301.0, rate=8_000)), 422, {"too_long"}),
    "twenty-one megabytes": (lambda: bytes(20_050_000), 413, {"too_large"}),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_what_is_no_recording_is_refused_and_nothing_is_lost(
    speech_rehearsal: RehearsalServer, alice: User, mira: Companion, name: str
) -> None:
    make, status, codes = REFUSED[name]
    browser, before = Browser(alice, mira.pk), await in_thread(recorded, mira)
    await browser.post(f"recordings/{before.pk}/send/", text=SAID, client_id="1")
    response = await browser.record(make())
    told = orjson.loads(response.content)
    assert (response.status_code, told["code"] in codes) == (status, True), told
    assert len(told["detail"]) > 10
    assert await Recording.objects.acount() == await StoredFile.objects.acount() == 1
    assert (await Message.objects.aget(client_id="1")).text == SAID
    assert speech_rehearsal.sound_requests() == []


HARMLESS: dict[str, tuple[Make, float]] = {
    "webm": (lambda: encoded(hum(1.0), "webm", "libopus", 48_000), 1.0),
    "mp4": (lambda: encoded(hum(1.0), "mp4", "aac", 44_100), 1.0),
    "ogg": (lambda: encoded(hum(1.0), "ogg", "libopus", 48_000), 1.0),
    "mp3": (lambda: encoded(hum(1.0), "mp3", "libmp3lame", 24_000), 1.0),
    "flac": (lambda: encoded(hum(1.0), "flac", "flac", 16_000), 1.0),
    "8,000 samples a second": (lambda: wav(hum(1.0, rate=8_000)), 1.0),
    "192,000 samples a second": (lambda: wav(hum(1.0, rate=192_000)), 1.0),
    "a header that says four gigabytes": (
        lambda: with_header(16_000, 0xFFFF_FFF0, wav(hum(1.0))[44:]),
        1.0,
    ),
}


@pytest.mark.parametrize("name", HARMLESS)
async def test_what_can_be_heard_is_drawn_anew_whatever_it_is_called(
    speech_rehearsal: RehearsalServer, alice: User, mira: Companion, name: str
) -> None:
    make, seconds = HARMLESS[name]
    speech_rehearsal.script_sound(hears())
    response = await Browser(alice, mira.pk).record(make(), name="../../page.html")
    told = orjson.loads(response.content)
    assert (response.status_code, told.get("text")) == (201, SAID), told
    assert told["seconds"] == pytest.approx(seconds, abs=0.15)
    file = await StoredFile.objects.aget()
    assert (file.content_type, "page" in file.key) == ("audio/mpeg", False)


@pytest.mark.parametrize("number", range(6))
async def test_a_damaged_recording_is_read_or_refused_but_never_an_error_of_kith(
    speech_rehearsal: RehearsalServer, alice: User, mira: Companion, number: int
) -> None:
    speech_rehearsal.script_sound(hears())
    response = await Browser(alice, mira.pk).record(broken(number))
    assert response.status_code in (201, 422)
    assert orjson.loads(response.content)["detail" if response.status_code == 422 else "text"]


async def test_a_form_without_a_file_is_told_so(alice: User, mira: Companion) -> None:
    response = await Browser(alice, mira.pk).post("recordings/", file="a word")
    assert (response.status_code, orjson.loads(response.content)["code"]) == (422, "no_file")


@pytest.mark.parametrize("path", ["/transcriptions", "/companions/{id}/recordings"])
@pytest.mark.parametrize("name", ["nothing", "a page", "silence", "twenty-one megabytes"])
async def test_the_api_refuses_the_same(
    speech_rehearsal: RehearsalServer, alice: User, mira: Companion, path: str, name: str
) -> None:
    make, status, codes = REFUSED[name]
    response = await upload(alice, path.format(id=mira.pk), make())
    told = orjson.loads(response.content)
    assert (response.status_code, response["Content-Type"]) == (status, "application/problem+json")
    assert told["code"] in codes
    assert not await StoredFile.objects.aexists()
    assert speech_rehearsal.sound_requests() == []

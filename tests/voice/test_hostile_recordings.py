"""What is no recording is refused with a clear sentence; what was written or said before it stays as it was."""

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
from providers.sound import Sound, encode_wav
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.sound import hum
from tests.voice.recordings import SAID, Browser, hears, recorded, upload
from voice.models import Recording

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("web")]


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
    return encode_wav(Sound(np.zeros(round(seconds * 16_000), np.int16), 16_000))


def broken(number: int) -> bytes:
    """A recording with a twentieth of its bytes turned round."""
    content = bytearray(encoded(hum(1.0), "webm", "libopus", 48_000))
    picks = np.random.default_rng(number).integers(0, 200, 20)
    for at in picks:
        content[at] ^= 0xFF
    return bytes(content)


Make = Callable[[], bytes]
# Of each refusal one: all that is no sound stands in tests/providers/sound/hostile.py.
REFUSED: dict[str, tuple[Make, int, str]] = {
    "nothing": (lambda: b"", 422, "empty"),
    "a page": (lambda: b"<!doctype html><script>alert(1)</script>", 422, "no_sound"),
    "silence": (lambda: silence(2.0), 422, "silent"),
    "a hum that nobody hears": (lambda: encode_wav(hum(1.0, loud=0.0005)), 422, "silent"),
    "five minutes and a second": (lambda: encode_wav(hum(301.0, rate=8_000)), 422, "too_long"),
    "twenty-one megabytes": (lambda: bytes(20_050_000), 413, "too_large"),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_what_is_no_recording_is_refused_and_nothing_is_lost(
    speech_rehearsal: RehearsalServer, alice: User, mira: Companion, name: str
) -> None:
    make, status, code = REFUSED[name]
    browser, before = Browser(alice, mira.pk), await in_thread(recorded, mira)
    await browser.post(f"recordings/{before.pk}/send/", text=SAID, client_id="1")
    response = await browser.record(make())
    told = orjson.loads(response.content)
    assert (response.status_code, told["code"]) == (status, code), told
    assert len(told["detail"]) > 10
    assert await Recording.objects.acount() == await StoredFile.objects.acount() == 1
    assert (await Message.objects.aget(client_id="1")).text == SAID
    assert speech_rehearsal.sound_requests() == []


HARMLESS: dict[str, Make] = {  # as the browsers record it
    "webm": lambda: encoded(hum(1.0), "webm", "libopus", 48_000),
    "mp4": lambda: encoded(hum(1.0), "mp4", "aac", 44_100),
}


@pytest.mark.parametrize("name", HARMLESS)
async def test_what_can_be_heard_is_drawn_anew_whatever_it_is_called(
    speech_rehearsal: RehearsalServer, alice: User, mira: Companion, name: str
) -> None:
    speech_rehearsal.script_sound(hears())
    response = await Browser(alice, mira.pk).record(HARMLESS[name](), name="../../page.html")
    told = orjson.loads(response.content)
    assert (response.status_code, told.get("text")) == (201, SAID), told
    assert told["seconds"] == pytest.approx(1.0, abs=0.15)
    file = await StoredFile.objects.aget()
    assert (file.content_type, "page" in file.key) == ("audio/mpeg", False)


@pytest.mark.parametrize("number", range(2))
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


@pytest.mark.parametrize(
    ("path", "name"),
    [
        *(("/transcriptions", name) for name in ("nothing", "a page", "silence", "twenty-one megabytes")),
        *(("/companions/{id}/recordings", name) for name in ("a page", "twenty-one megabytes")),
    ],
)
async def test_the_api_refuses_the_same(
    speech_rehearsal: RehearsalServer, alice: User, mira: Companion, path: str, name: str
) -> None:
    make, status, code = REFUSED[name]
    response = await upload(alice, path.format(id=mira.pk), make())
    told = orjson.loads(response.content)
    assert (response.status_code, response["Content-Type"]) == (status, "application/problem+json")
    assert told["code"] == code
    assert not await StoredFile.objects.aexists()
    assert speech_rehearsal.sound_requests() == []

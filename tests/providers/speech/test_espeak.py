"""The voice of this machine, end to end: a program that must be installed where the tests run."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import uvloop

from providers.errors import ProviderUnavailable
from providers.sound import GENERATED, encode_mp3, read
from providers.speech import SpeechRequest, get_engine, get_engine_name, synthesise
from tests.fixtures.sound import NO_SPEECH

ENGLISH = "I waited for you on the bridge, and then it began to rain."
CHINESE = "我在桥上等你,后来下起了雨。"


@pytest.fixture(autouse=True)
def _espeak(settings: Any) -> None:
    settings.SPEECH = NO_SPEECH | {"engine": ""}


@pytest.mark.parametrize(("text", "least", "most"), [(ENGLISH, 2.5, 6.0), (CHINESE, 2.0, 6.5)])
async def test_it_says_a_sentence_as_long_as_its_text(text: str, least: float, most: float) -> None:
    assert get_engine_name() == "espeak"
    sound = await synthesise(SpeechRequest(text))
    assert least < sound.seconds < most
    assert 0.05 < sound.level < 1
    again = read(encode_mp3(sound, GENERATED), 60)
    assert again.seconds == pytest.approx(sound.seconds, abs=0.06)
    assert again.level == pytest.approx(sound.level, rel=0.2)


async def test_twice_the_text_takes_twice_as_long() -> None:
    for text in (ENGLISH, CHINESE):
        once, twice = await synthesise(SpeechRequest(text)), await synthesise(SpeechRequest(f"{text} {text}"))
        assert twice.seconds == pytest.approx(2 * once.seconds, rel=0.2)


async def test_chinese_is_said_in_syllables_and_not_spelled() -> None:
    """An English voice reads each sign as “Chinese letter”, which takes more than half a second."""
    for language in ("", "en", "zh-hans"):
        sound = await synthesise(SpeechRequest(CHINESE, language=language))
        assert sound.seconds / 12 < 0.5


async def test_speed_voice_and_emotion_change_the_sound() -> None:
    plain = await synthesise(SpeechRequest(ENGLISH))
    fast, sad = (
        await synthesise(SpeechRequest(ENGLISH, speed=2.0)),
        await synthesise(SpeechRequest(ENGLISH, emotion="sad", intensity=1.0)),
    )
    low = await synthesise(SpeechRequest(ENGLISH, voice="m1"))
    assert fast.seconds < 0.65 * plain.seconds
    assert sad.seconds > 1.1 * plain.seconds
    assert low.samples.tobytes() != plain.samples.tobytes()
    assert (
        await synthesise(SpeechRequest(ENGLISH, emotion="unknown", intensity=1.0))
    ).seconds == plain.seconds


@pytest.mark.parametrize("voice", ["--version", "f3;ls", "../../x", "nobody"])
async def test_a_voice_that_it_has_not_is_its_own(voice: str) -> None:
    plain, strange = (
        await synthesise(SpeechRequest("Hello.")),
        await synthesise(SpeechRequest("Hello.", voice=voice)),
    )
    assert strange.samples.tobytes() == plain.samples.tobytes()


@pytest.mark.parametrize(
    "text", ["--help", "$(ls) `ls`; ls", "<speak>Hello</speak>", "[[h@l'oU]] there", "Hel\0lo", "Ж你 α ع"]
)
async def test_no_text_is_a_command(text: str) -> None:
    assert (await synthesise(SpeechRequest(text))).seconds > 0.2


async def test_phonemes_are_read_as_letters() -> None:
    marked, plain = await synthesise(SpeechRequest("[[a]] b")), await synthesise(SpeechRequest("[ [a]] b"))
    assert marked.samples.tobytes() == plain.samples.tobytes()


async def test_ten_sentences_at_once_are_ten_sounds() -> None:
    sounds = await asyncio.gather(*(synthesise(SpeechRequest(f"This is number {at}.")) for at in range(10)))
    assert len({sound.samples.tobytes() for sound in sounds}) == 10


async def left_early(folder: Path) -> None:
    """Leave a program while it runs, and return once it is gone. It may be left before its start is reported."""
    asking = asyncio.create_task(synthesise(SpeechRequest("Hello.")))
    while not (folder / "pid").exists() or not (folder / "pid").read_text().strip():
        assert not asking.done(), asking.exception()
        await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    pid = int((folder / "pid").read_text())
    async with asyncio.timeout(20):
        with suppress(ProcessLookupError):
            while not os.kill(pid, 0):
                await asyncio.sleep(0.01)


def test_it_speaks_in_the_loop_of_a_web_process() -> None:
    """Which is uvloop's, whose pipes are of other types than asyncio's."""
    assert uvloop.run(synthesise(SpeechRequest(ENGLISH))).seconds > 2.5


async def test_its_own_voice_comes_first(settings: Any) -> None:
    settings.SPEECH = NO_SPEECH | {"engine": "espeak", "voice": "m3"}
    speaking = get_engine()
    assert speaking is not None
    names = await speaking.voices()
    assert names[0] == "m3"
    assert len(set(names)) == len(names) == 13


def put_in_its_place(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Another program under its name, and before it."""
    program = folder / "espeak-ng"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def instead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    def put(script: str) -> Path:
        put_in_its_place(tmp_path, monkeypatch, script)
        return tmp_path

    return put


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("cat > /dev/null; echo 'No such voice' >&2; exit 1", "No such voice"),
        ("exit 3", "failed"),
        ("cat > /dev/null", "Nothing came"),
        ("exec sleep 30", "longer than 1 seconds"),
        ("exec >&-; exec sleep 30", "longer than 1 seconds"),
        ("exec cat /dev/zero", "bytes were written|longer than"),
        ("head -c 99999 /dev/zero >&2; exit 1", "failed"),
        ("cat; kill -9 $$", "failed"),
    ],
)
async def test_a_program_that_fails_is_unavailable(
    settings: Any, instead: Callable[[str], Path], script: str, words: str
) -> None:
    settings.SPEECH = NO_SPEECH | {"engine": "espeak", "seconds": 1.0 if "sleep" in script else 30.0}
    instead(script)
    with pytest.raises(ProviderUnavailable, match=words):
        await synthesise(SpeechRequest("Hello."))


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_whoever_leaves_ends_the_program(instead: Callable[[str], Path], run: Callable[..., None]) -> None:
    run(left_early(instead('echo $$ > "$(dirname "$0")/pid"; exec sleep 60')))


async def test_without_the_program_the_browser_speaks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert get_engine_name() == "browser"
    assert get_engine() is None
    with pytest.raises(ProviderUnavailable, match="browser"):
        await synthesise(SpeechRequest("Hello."))

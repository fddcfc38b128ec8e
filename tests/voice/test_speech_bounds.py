"""What one person can ask of the voice at once, however many requests they make of it."""

import asyncio
from typing import Any

import pytest

from accounts.models import SoundCall, User
from companions.models import Companion
from files.storage import private
from jobs.background import in_thread
from providers.sound import encode_wav
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.rest import Api
from tests.fixtures.sound import hum
from tests.voice.speeches import Listener, answered, begun
from voice.speech import sound, synthesis
from voice.speech.sound import speak_sentence, speak_text
from voice.speech.spoken_text import get_spoken_reply
from voice.speech.voices import set_reference

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("web")]


async def test_many_at_once_do_not_go_over_the_days_characters(
    speech_rehearsal: RehearsalServer, alice: User, mira: Companion, settings: Any
) -> None:
    settings.SPEECH_CHARACTERS_PER_DAY = 20
    settings.SPEECH = settings.SPEECH | {"at_once": 1}
    speech_rehearsal.script_sound({"delay": 0.3, "repeat": 4})
    said = await in_thread(answered, mira, "Sentence one. Sentence two. Sentence six. Sentence ten.")
    reply = await in_thread(get_spoken_reply, alice, mira.pk, said.pk)
    heard = await asyncio.gather(
        *(speak_sentence(reply, number) for number in range(4)), return_exceptions=True
    )
    assert sorted(type(one).__name__ for one in heard) == [
        "GateError",
        "GateError",
        "GateError",
        "SentenceSpeech",
    ]
    assert await in_thread(SoundCall.objects.count) == 1


async def test_so_many_wait_for_sentences_and_no_more(
    speech_rehearsal: RehearsalServer, alice: User, mira: Companion, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply, listener = await in_thread(answered, mira, "Hello."), Listener(alice, mira)
    monkeypatch.setattr(sound.SENTENCE_LIMIT, "limit", 0)
    refused = await listener.hear(reply, 0)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_sentences")
    monkeypatch.setattr(sound.SENTENCE_LIMIT, "limit", 1)
    assert [(await listener.hear(reply, 0)).status_code for _ in range(2)] == [200, 200]


async def test_so_many_texts_are_read_aloud_and_no_more(
    speech_rehearsal: RehearsalServer, alice: User, mira: Companion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sound.TEXT_LIMIT, "limit", 0)
    refused = await Listener(alice, mira).post("voice/sample/")
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_texts")
    assert speech_rehearsal.sound_requests() == []


async def test_a_reference_is_read_once_for_a_text(
    speech_rehearsal: RehearsalServer, mira: Companion, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    await in_thread(set_reference, mira, encode_wav(hum(2)), "", "Mine.", mira.created_at)
    settings.SPEECH = settings.SPEECH | {"engine": "f5"}
    reads: list[str] = []
    read_content = synthesis.read_content
    monkeypatch.setattr(synthesis, "read_content", lambda file: reads.append(file.key) or read_content(file))
    with pytest.raises(Exception, match="speech_unavailable"):  # this server is no F5-TTS
        await speak_text(mira, "Hi. " * 50)
    assert len(reads) == 1
    assert len(list(private().contents("reference"))) == 1


@pytest.mark.parametrize("wait", ["nan", "inf", "-1"])
def test_a_time_that_is_none_is_not_waited_for(as_alice: Api, mira: Companion, wait: str) -> None:
    reply = begun(mira, "Hello. I was jus")
    response = as_alice.get(f"/companions/{mira.pk}/replies/{reply.pk}/speech/0?wait={wait}")
    assert response.status_code == 422

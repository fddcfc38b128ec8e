"""A companion's voice is chosen, tried, and taught by a recording whose owner has agreed."""

from dataclasses import replace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import User
from companions.models import Companion
from files.models import StoredFile
from providers.sound import encode_wav, read
from providers.speech import SpeechRequest, get_engine
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.rest import Api, problem
from tests.fixtures.sound import hum
from voice.models import Voice
from voice.speech.synthesis import VoiceSettings

pytestmark = pytest.mark.django_db(transaction=True)
CONSENT = "This is my own voice."


def recording(content: bytes, **fields: str) -> dict[str, Any]:
    return {"file": SimpleUploadedFile("me.wav", content), "text": "What I say", "consent": CONSENT, **fields}


def test_a_voice_is_chosen_and_heard(
    speech_rehearsal: RehearsalServer, as_alice: Api, mira: Companion
) -> None:
    path = f"/companions/{mira.pk}/voice"
    before = as_alice.get(path).json()
    assert (before["engine"], before["name"], before["speed"]) == ("openai", "", 1.0)
    chosen = as_alice.call("PATCH", path, {"name": before["voices"][-1], "speed": 1.25}).json()
    assert (chosen["name"], chosen["speed"]) == (before["voices"][-1], 1.25)
    for wrong in ({"speed": 9}, {"name": "a\0b"}):
        problem(as_alice.call("PATCH", path, wrong), 422, "not_valid")
    problem(as_alice.call("PATCH", path, {"name": "nobody's", "speed": 1.0}), 422, "no_such_voice")
    heard = as_alice.post(f"/companions/{mira.pk}/speech", {"text": "Good evening. How are you?"})
    assert heard["Content-Type"] == "audio/mpeg"
    assert not read(heard.content, 60).is_silent
    said = {(one["voice"], one["speed"], one["input"]) for one in speech_rehearsal.sound_requests()}
    assert said == {(chosen["name"], 1.25, "Good evening."), (chosen["name"], 1.25, "How are you?")}


def test_what_says_nothing_cannot_be_spoken(
    speech_rehearsal: RehearsalServer, as_alice: Api, mira: Companion
) -> None:
    problem(as_alice.post(f"/companions/{mira.pk}/speech", {"text": "🙂 *smiles*"}), 422, "nothing_to_say")


def test_a_recording_is_kept_with_its_consent_and_taken_back(as_alice: Api, mira: Companion) -> None:
    path = f"/companions/{mira.pk}/voice/reference"
    first = as_alice.form(path, recording(encode_wav(hum(2)))).json()["reference"]
    assert (first["consent"], first["text"], first["seconds"]) == (CONSENT, "What I say", 2.0)
    second = as_alice.form(path, recording(encode_wav(hum(3)), text="What\0 else")).json()["reference"]
    assert second["text"] == "What else"
    assert StoredFile.objects.get().pk != first["file_id"]
    assert str(StoredFile.objects.get().pk) == second["file_id"]
    assert as_alice.call("DELETE", path).status_code == 204
    kept = Voice.objects.get()
    assert (kept.reference, kept.consent, kept.consented_at, kept.reference_text) == (None, "", None, "")
    assert not StoredFile.objects.exists()


@pytest.mark.parametrize(
    ("content", "consent", "code"),
    [
        (encode_wav(hum(2)), " ", "no_consent"),
        (encode_wav(hum(2, loud=0)), CONSENT, "silent"),
        (encode_wav(hum(0.2)), CONSENT, "silent"),
        (encode_wav(hum(61)), CONSENT, "too_long"),
        (b"<html>no sound at all</html>", CONSENT, "no_sound"),
    ],
)
def test_a_recording_that_cannot_be_imitated_is_refused(
    as_alice: Api, mira: Companion, content: bytes, consent: str, code: str
) -> None:
    response = as_alice.form(f"/companions/{mira.pk}/voice/reference", recording(content, consent=consent))
    problem(response, 422, code)
    assert not StoredFile.objects.exists()
    assert not Voice.objects.filter(reference__isnull=False).exists()


def test_the_page_names_the_engine_and_its_licence(
    alice: User, mira: Companion, client: Any, settings: Any
) -> None:
    client.force_login(alice)
    settings.SPEECH = settings.SPEECH | {"engine": "fish", "base_url": "http://127.0.0.1:1"}
    page = client.get(f"/companions/{mira.pk}/voice/").content.decode()
    assert "Fish Speech" in page
    assert "licence from Fish Audio" in page
    assert "has agreed" in page


def test_another_recording_to_imitate_and_any_other_request_is_another_sound() -> None:
    engine = get_engine()
    assert engine is not None
    voice = VoiceSettings(engine, "", 1.0, "en", StoredFile(sha256="a" * 64), "")
    request = SpeechRequest("Good evening.")
    other = replace(voice, reference=StoredFile(sha256="b" * 64))
    changed = {
        "text": "Night.",
        "voice": "a",
        "language": "zh-hans",
        "speed": 2.0,
        "emotion": "sad",
        "intensity": 0.5,
    }
    requests = [replace(request, **{name: value}) for name, value in changed.items()]  # type: ignore[arg-type]
    digests = [
        other.digest(request),
        *map(voice.digest, [request, replace(request, reference_text="a"), *requests]),
    ]
    assert len({*digests}) == len(digests)
    assert voice.digest(request) == replace(voice).digest(request)

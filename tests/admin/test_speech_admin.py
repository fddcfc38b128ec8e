"""The operators' page of what speaks and what listens, tried against servers over HTTP."""

import base64
import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import SoundCall, User
from providers.sound import encode_wav, read
from tests.admin.conftest import Scene
from tests.admin.walk import listing
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.sound import hum

pytestmark = pytest.mark.django_db
SECRET = "sk-very-secret"


def tried(desk: Client, deed: str, **fields: Any) -> str:
    return desk.post(reverse("admin:sound"), {"deed": deed, **fields}).content.decode()


def test_it_shows_how_both_are_set_and_no_key(
    desk: Client, speech_rehearsal: RehearsalServer, settings: Any
) -> None:
    settings.SPEECH = settings.SPEECH | {"api_key": SECRET}
    settings.TRANSCRIPTION = settings.TRANSCRIPTION | {"api_key": SECRET}
    shown = desk.get(reverse("admin:sound")).content.decode()
    assert shown.count(speech_rehearsal.url) == 2
    assert SECRET not in shown
    assert not SoundCall.objects.exists()


def test_a_button_plays_what_the_engine_says(
    desk: Client, olive: User, speech_rehearsal: RehearsalServer
) -> None:
    response = desk.post(reverse("admin:sound"), {"deed": "say", "text": "Good evening.", "voice": ""})
    found = re.search(r'src="data:audio/mpeg;base64,([^"]+)"', response.content.decode())
    assert found
    assert read(base64.b64decode(found[1]), 30).seconds > 0.3
    assert "data:" in response.headers["Content-Security-Policy"].partition("media-src")[2].split(";")[0]
    call = SoundCall.objects.get()
    assert (call.user, call.capability, call.outcome, call.characters) == (olive, "speech", "done", 13)


def test_a_button_prints_what_was_heard(desk: Client, olive: User, speech_rehearsal: RehearsalServer) -> None:
    speech_rehearsal.script_sound({"capability": "transcription", "text": "Is anybody there?"})
    file = SimpleUploadedFile("x.wav", encode_wav(hum(1.5)))
    assert "Is anybody there?" in tried(desk, "hear", file=file)
    call = SoundCall.objects.get()
    assert (call.user, call.capability, call.outcome, call.seconds) == (olive, "transcription", "done", 1.5)


def test_it_lists_the_voices(desk: Client, speech_rehearsal: RehearsalServer) -> None:
    assert "rehearsal" in tried(desk, "voices").partition('id="outcome"')[2].partition("</section>")[0]


def test_what_a_provider_says_of_its_failure_is_shown(
    desk: Client, speech_rehearsal: RehearsalServer
) -> None:
    speech_rehearsal.script_sound({"error": {"status": 503, "body": "the voice is hoarse"}})
    shown = tried(desk, "say", text="Hello", voice="")
    assert "the voice is hoarse" in shown
    assert "It did not work" in shown
    assert SoundCall.objects.get().outcome == "unavailable"


def test_what_is_no_sound_is_told(desk: Client, speech_rehearsal: RehearsalServer) -> None:
    shown = tried(desk, "hear", file=SimpleUploadedFile("x.wav", b"<html>" * 100))
    assert "It did not work" in shown
    assert not SoundCall.objects.exists()


@pytest.mark.usefixtures("no_sound_providers")
def test_without_providers_it_says_that_the_browser_does_it(desk: Client) -> None:
    shown = desk.get(reverse("admin:sound")).content.decode()
    assert "each person&#x27;s browser speaks" in shown or "each person's browser speaks" in shown
    assert 'value="say"' not in shown
    assert 'value="hear"' not in shown


@pytest.mark.usefixtures("no_sound_providers")
def test_only_operators_with_the_right_come_in(client: Client, opal: User, alice: User) -> None:
    client.force_login(alice)
    assert client.get(reverse("admin:sound"), follow=True).status_code == 403
    client.force_login(opal)
    assert client.get(reverse("admin:sound")).status_code == 200
    opal.groups.clear()
    opal.user_permissions.add(*Permission.objects.filter(codename="view_token"))
    assert client.get(reverse("admin:sound")).status_code == 403


def test_what_each_person_used_stands_in_the_list_of_people(desk: Client, scene: Scene, alice: User) -> None:
    common = {"user": alice, "provider": "x", "outcome": "done", "milliseconds": 1}
    now = timezone.now()
    SoundCall.objects.create(**common, capability="speech", characters=1234, started_at=now)
    SoundCall.objects.create(**common, capability="speech", characters=4, seconds=9, started_at=now)
    SoundCall.objects.create(**common, capability="transcription", seconds=41.6, started_at=now)
    for failed in (
        {"capability": "speech", "characters": 50},
        {"capability": "transcription", "seconds": 60},
    ):
        SoundCall.objects.create(**common | {"outcome": "unavailable"}, **failed, started_at=now)
    long_ago = now - timedelta(days=31)
    SoundCall.objects.create(**common, capability="transcription", seconds=500, started_at=long_ago)
    rows = {person.email: person for person in desk.get(listing(User)).context["cl"].result_list}
    mine = rows[alice.email]
    assert (mine.characters_spoken, round(mine.seconds_heard)) == (1238, 42)
    others = {
        (one.characters_spoken, one.seconds_heard) for email, one in rows.items() if email != alice.email
    }
    assert others == {(0, 0.0)}
    today = {str(one.name): one for one in desk.get(reverse("admin:index")).context["numbers"]}
    spoken = today["Characters spoken today"]
    assert (spoken.number, spoken.more) == (1238, "42 s of speech heard")

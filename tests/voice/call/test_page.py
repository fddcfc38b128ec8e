"""The page of a call, and the sentence with which every call begins."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from companions.models import Companion
from jobs.background import in_thread
from providers.sound import read
from tests.fixtures.rehearsal import RehearsalServer
from tests.voice.recordings import Browser

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.usefixtures("speech_rehearsal")
def test_the_page_offers_to_call_and_says_with_whom_one_speaks(
    client: Client, alice: User, mira: Companion
) -> None:
    client.force_login(alice)
    page = client.get(f"/companions/{mira.pk}/call/").content.decode()
    assert 'id="call-start"' in page
    assert "Mira is an AI, not a person." in page
    assert "js/voice/call.js" in page
    # No live region: it would be read into the microphone.
    assert '<p class="call-state" id="call-state">' in page


@pytest.mark.usefixtures("no_sound_providers")
def test_where_nobody_listens_the_page_says_so(client: Client, alice: User, mira: Companion) -> None:
    client.force_login(alice)
    page = client.get(f"/companions/{mira.pk}/call/").content.decode()
    assert "calls need a transcription service" in page
    assert 'id="call-start"' not in page
    assert "js/voice/call.js" not in page


async def test_the_notice_is_said_in_the_companions_voice(
    speech_rehearsal: RehearsalServer, bob: User, tian: Companion
) -> None:
    response = await Browser(bob, tian.pk).get("call/notice/")
    assert (response.status_code, response["Content-Type"]) == (200, "audio/mpeg")
    assert read(response.content, 10).seconds > 0.5
    (asked,) = speech_rehearsal.sound_requests()
    assert asked["input"] == "小天是 AI，不是真人。"


@pytest.mark.usefixtures("no_sound_providers")
async def test_without_an_engine_the_browser_is_told_the_words(alice: User, mira: Companion) -> None:
    response = await Browser(alice, mira.pk).get("call/notice/")
    told: dict[str, Any] = response.json()
    assert (response.status_code, told["code"]) == (409, "browser_speaks")
    assert told["text"] == "Mira is an AI, not a person."


@pytest.mark.usefixtures("speech_rehearsal")
@pytest.mark.parametrize("path", ["call/", "call/notice/"])
async def test_anothers_companion_cannot_be_called(mallory: User, mira: Companion, path: str) -> None:
    response = await Browser(mallory, mira.pk).get(path)
    assert response.status_code == 404


@pytest.mark.usefixtures("speech_rehearsal")
async def test_the_talk_leads_to_the_call(alice: User, mira: Companion) -> None:
    response = await Browser(alice, mira.pk).get("")
    assert f'href="/companions/{mira.pk}/call/"' in await in_thread(response.content.decode)

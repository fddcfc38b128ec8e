"""Recordings for programs: heard, listed, corrected, sent and deleted; and transcriptions of what is not kept."""

import orjson
import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from accounts.models import SoundCall, User
from companions.conversations.attachments import keep_text
from companions.models import Companion, Message, Reply
from files.models import StoredFile
from jobs.background import in_thread
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.rest import Api, problem
from tests.voice.recordings import SAID, hears, recorded, spoken, upload
from voice.models import Recording

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("web")]


async def test_a_transcription_is_given_and_the_sound_not_kept(
    speech_rehearsal: RehearsalServer, alice: User
) -> None:
    speech_rehearsal.script_sound(hears(language="english"))
    response = await upload(alice, "/transcriptions", spoken(1.5), language="en")
    assert response.status_code == 200
    assert orjson.loads(response.content) == {"text": SAID, "language": "en", "seconds": 1.5}
    call = await SoundCall.objects.aget()
    assert (call.user_id, call.companion_id, call.capability) == (alice.pk, None, "transcription")
    assert not await StoredFile.objects.aexists()


@pytest.mark.usefixtures("no_sound_providers")
async def test_without_a_transcription_it_says_so(alice: User) -> None:
    problem(await upload(alice, "/transcriptions", spoken()), 409, "no_transcription")


async def test_where_nothing_is_heard_it_says_so(speech_rehearsal: RehearsalServer, alice: User) -> None:
    speech_rehearsal.script_sound(hears(" "), {"capability": "transcription", "error": {"status": 503}})
    problem(await upload(alice, "/transcriptions", spoken()), 422, "nothing_heard")
    problem(await upload(alice, "/transcriptions", spoken()), 503, "transcription_unavailable")
    assert [one.outcome async for one in SoundCall.objects.order_by("pk")] == ["done", "unavailable"]


async def test_a_recording_is_added_sent_and_answered(
    speech_rehearsal: RehearsalServer, alice: User, mira: Companion
) -> None:
    speech_rehearsal.script_sound(hears())
    added = await upload(alice, f"/companions/{mira.pk}/recordings", spoken())
    told = orjson.loads(added.content)
    assert (added.status_code, told["text"], told["message_id"]) == (201, SAID, None)
    api = await sync_to_async(Api)(alice)
    path = f"/companions/{mira.pk}/recordings/{told['id']}"
    text = await in_thread(keep_text, mira, b"What I read today.", "today.txt", timezone.now())
    sent = await api.apost(f"{path}/send", {"text": SAID, "client_id": "1", "attachments": [str(text.pk)]})
    message = await Message.objects.aget(client_id="1")
    assert await message.attachments.aget() == text
    assert (sent.status_code, orjson.loads(sent.content)["message"]["id"]) == (201, str(message.pk))
    assert (await Recording.objects.aget()).message_id == message.pk
    assert await Reply.objects.filter(message=message).aexists()


async def test_an_idempotency_key_sends_it_once(alice: User, mira: Companion) -> None:
    recording = await in_thread(recorded, mira)
    api = await sync_to_async(Api)(alice)
    path = f"/companions/{mira.pk}/recordings/{recording.pk}/send"
    sent = [await api.apost(path, {"text": SAID}, **{"Idempotency-Key": "once"}) for _ in range(2)]
    assert [one.status_code for one in sent] == [201, 201]
    assert await Message.objects.filter(role="user").acount() == 1


def test_recordings_are_listed_newest_first(as_alice: Api, mira: Companion) -> None:
    made = [recorded(mira, f"No. {number}") for number in range(3)]
    first = as_alice.get(f"/companions/{mira.pk}/recordings?limit=2").json()
    assert [one["text"] for one in first["items"]] == ["No. 2", "No. 1"]
    rest = as_alice.get(f"/companions/{mira.pk}/recordings?limit=2&cursor={first['next']}").json()
    assert ([one["id"] for one in rest["items"]], rest["next"]) == ([str(made[0].pk)], None)
    one = as_alice.get(f"/companions/{mira.pk}/recordings/{made[0].pk}").json()
    assert (one["seconds"], "sound" in one) == (1.0, False)
    assert as_alice.get(f"/files/{one['file_id']}").status_code == 200


def test_what_was_heard_is_corrected_before_it_is_sent(as_alice: Api, mira: Companion) -> None:
    recording = recorded(mira, "My sister Aida")
    path = f"/companions/{mira.pk}/recordings/{recording.pk}"
    assert as_alice.call("PATCH", path, {"text": SAID}).json()["text"] == SAID
    problem(as_alice.call("PATCH", path, {"text": "  "}), 422, "not_valid")
    recording.refresh_from_db()
    assert recording.heard == SAID


async def test_its_deletion_leaves_the_message(alice: User, mira: Companion) -> None:
    recording = await in_thread(recorded, mira)
    api = await sync_to_async(Api)(alice)
    path = f"/companions/{mira.pk}/recordings/{recording.pk}"
    await api.apost(f"{path}/send", {"text": SAID, "client_id": "1"})
    assert (await sync_to_async(api.call)("DELETE", path)).status_code == 204
    assert not await StoredFile.objects.aexists()
    assert (await Message.objects.aget(client_id="1")).text == SAID

"""Push to talk: what was recorded is kept, heard, read through and sent as a message like any other."""

import asyncio
from datetime import timedelta

import orjson
import pytest
from django.utils import timezone

from accounts.models import SoundCall, User
from companions.deletion import delete_companion, delete_message
from companions.models import Companion, Message, Reply
from files.contents import read_content, store_content
from files.errors import ContentLostError
from files.models import StoredFile
from jobs.background import in_thread
from memory.models import Memory
from providers.sound import read
from tests.companions.everywhere import tables_with
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.turns import connected
from tests.voice.recordings import SAID, Browser, hears, recorded, spoken
from voice import tasks
from voice.errors import HearingError
from voice.hearing import LIMIT, get_recording, sweep_recordings, transcribe_recording
from voice.models import Recording

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("web")]


@pytest.fixture
def phone(alice: User, mira: Companion) -> Browser:
    return Browser(alice, mira.pk)


async def test_a_recording_is_heard_and_its_words_come_back(
    speech_rehearsal: RehearsalServer, phone: Browser, mira: Companion
) -> None:
    speech_rehearsal.script_sound(hears())
    response = await phone.record(spoken(1.5))
    assert response.status_code == 201
    told = orjson.loads(response.content)
    recording = await Recording.objects.select_related("file").aget()
    assert (told["id"], told["text"], told["code"]) == (str(recording.pk), SAID, None)
    assert told["seconds"] == pytest.approx(1.5, abs=0.01)
    assert (recording.companion_id, recording.message_id, recording.heard) == (mira.pk, None, SAID)
    assert (recording.file.kind, recording.file.content_type) == ("recording", "audio/mpeg")
    sound = read(await in_thread(read_content, recording.file), 10)
    assert sound.seconds == pytest.approx(1.5, abs=0.1)
    assert not sound.is_silent
    asked = speech_rehearsal.sound_requests()[-1]
    assert "Mira" in asked["prompt"]
    assert "Alice" in asked["prompt"]


async def test_who_has_no_name_leaves_no_gap_before_the_companions(
    speech_rehearsal: RehearsalServer, phone: Browser, alice: User
) -> None:
    await User.objects.filter(pk=alice.pk).aupdate(name="")
    await phone.record(spoken(1.5))
    assert speech_rehearsal.sound_requests()[-1]["prompt"] == "Mira"


async def test_its_seconds_are_counted(
    speech_rehearsal: RehearsalServer, phone: Browser, mira: Companion
) -> None:
    speech_rehearsal.script_sound(hears())
    await phone.record(spoken(2.0))
    call = await SoundCall.objects.aget()
    assert (call.capability, call.outcome, call.user_id) == ("transcription", "done", phone.user.pk)
    assert call.companion_id == mira.pk
    assert call.seconds == pytest.approx(2.0, abs=0.1)


async def test_it_is_sent_as_a_message_and_answered(phone: Browser, mira: Companion) -> None:
    recording = await in_thread(recorded, mira)
    async with connected(phone.user, mira) as socket:
        response = await phone.post(
            f"recordings/{recording.pk}/send/", text=f"{SAID} She does.", client_id="1"
        )
        assert response.status_code == 201
        frames = await socket.until("reply.done")
    frame = orjson.loads(response.content)
    assert frames[0] == frame
    message = await Message.objects.select_related("recording").aget(client_id="1")
    assert (frame["message"]["id"], message.text) == (str(message.pk), f"{SAID} She does.")
    assert message.recording == recording
    assert await Memory.objects.aget(message=message, kind="said", speaker="user")


async def test_sent_twice_it_is_one_message(phone: Browser, mira: Companion) -> None:
    recording = await in_thread(recorded, mira)
    path = f"recordings/{recording.pk}/send/"
    first, second = [await phone.post(path, text=SAID, client_id="1") for _ in range(2)]
    assert first.status_code == second.status_code == 201
    ids = {orjson.loads(one.content)["message"]["id"] for one in (first, second)}
    assert len(ids) == 1
    other = await phone.post(path, text="Something else", client_id="2")
    assert (other.status_code, orjson.loads(other.content)["code"]) == (409, "recording_sent")
    assert await Message.objects.filter(companion=mira, role="user").acount() == 1


async def test_a_message_has_one_recording(phone: Browser, mira: Companion) -> None:
    for number, status in ((1, 201), (2, 409)):
        recording = await in_thread(recorded, mira)
        response = await phone.post(f"recordings/{recording.pk}/send/", text=SAID, client_id="1")
        assert response.status_code == status, number


@pytest.mark.parametrize("text", ["", "   ", "x" * 32_001, "a\x00b"])
async def test_what_is_no_message_is_not_sent_and_the_recording_waits(
    phone: Browser, mira: Companion, text: str
) -> None:
    recording = await in_thread(recorded, mira)
    response = await phone.post(f"recordings/{recording.pk}/send/", text=text, client_id="1")
    assert response.status_code == 422
    assert orjson.loads(response.content)["detail"]
    await recording.arefresh_from_db()
    assert recording.message_id is None
    assert not await Message.objects.filter(companion=mira, role="user").aexists()


async def test_the_gate_counts_what_is_said_aloud(phone: Browser, mira: Companion, alice: User) -> None:
    await User.objects.filter(pk=alice.pk).aupdate(messages_per_minute=1)
    for number, status in ((1, 201), (2, 429)):
        recording = await in_thread(recorded, mira)
        path = f"recordings/{recording.pk}/send/"
        response = await phone.post(path, text=f"No. {number}", client_id=str(number))
        assert response.status_code == status


FAULTS = {
    "transcription_unavailable": {"error": {"status": 503, "body": {"error": {"message": "busy"}}}},
    "transcription_refused": {"error": {"status": 400, "body": {"error": {"message": "no"}}}},
    "nothing_heard": {"text": "  "},
}


@pytest.mark.parametrize("code", FAULTS)
async def test_what_cannot_be_heard_now_is_kept_and_tried_again(
    speech_rehearsal: RehearsalServer, phone: Browser, code: str
) -> None:
    speech_rehearsal.script_sound({"capability": "transcription", **FAULTS[code]}, hears())
    response = await phone.record(spoken())
    told = orjson.loads(response.content)
    assert (response.status_code, told["text"], told["code"]) == (201, "", code)
    assert told["detail"]
    again = await phone.post(f"recordings/{told['id']}/transcribe/")
    assert (again.status_code, orjson.loads(again.content)["text"]) == (200, SAID)
    calls = [one.outcome async for one in SoundCall.objects.order_by("started_at")]
    failed = {"transcription_unavailable": "unavailable", "transcription_refused": "refused"}
    assert calls == [failed.get(code, "done"), "done"]


@pytest.mark.usefixtures("no_sound_providers")
async def test_without_a_transcription_it_is_kept_and_typed(phone: Browser) -> None:
    told = orjson.loads((await phone.record(spoken())).content)
    assert (told["text"], told["code"]) == ("", "no_transcription")
    sent = await phone.post(f"recordings/{told['id']}/send/", text="Typed", client_id="1")
    assert sent.status_code == 201
    assert not await SoundCall.objects.aexists()


async def test_where_a_days_seconds_are_used_up_it_is_kept_and_typed(
    speech_rehearsal: RehearsalServer, phone: Browser, settings: object
) -> None:
    settings.HEARING_SECONDS_PER_DAY = 1  # type: ignore[attr-defined]
    told = orjson.loads((await phone.record(spoken(2.0))).content)
    assert (told["text"], told["code"]) == ("", "no_hearing_left")
    assert speech_rehearsal.sound_requests() == []
    refused = await phone.post(f"recordings/{told['id']}/transcribe/")
    assert (refused.status_code, int(refused["Retry-After"]) > 0) == (429, True)


async def test_a_deleted_message_takes_its_recording_and_the_sound_with_it(
    phone: Browser, mira: Companion
) -> None:
    recording = await in_thread(recorded, mira)
    await phone.post(f"recordings/{recording.pk}/send/", text=SAID, client_id="1")
    file = await StoredFile.objects.aget()
    message = await Message.objects.aget(client_id="1")
    await in_thread(delete_message, message, timezone.now())
    assert not await Recording.objects.aexists()
    assert not await StoredFile.objects.aexists()
    with pytest.raises(ContentLostError):
        await in_thread(read_content, file)


async def test_a_deleted_companion_takes_its_recordings_with_it(mira: Companion) -> None:
    file = (await in_thread(recorded, mira)).file
    await in_thread(delete_companion, mira)
    assert not await StoredFile.objects.aexists()
    with pytest.raises(ContentLostError):
        await in_thread(read_content, file)


async def test_what_was_not_sent_is_swept_after_a_day(phone: Browser, mira: Companion) -> None:
    now = timezone.now()
    old, fresh = now - timedelta(hours=25), now - timedelta(hours=23)
    left, kept, sent = [await in_thread(recorded, mira, created_at=at) for at in (old, fresh, old)]
    await phone.post(f"recordings/{sent.pk}/send/", text=SAID, client_id="1")
    kind = StoredFile.Kind.RECORDING
    lone = await in_thread(store_content, mira.user, b"begun and left", kind, "audio/mpeg", old)
    assert await in_thread(sweep_recordings, now) == 2
    assert not await StoredFile.objects.filter(pk=lone.pk).aexists()
    assert {one.pk async for one in Recording.objects.all()} == {kept.pk, sent.pk}
    assert not await StoredFile.objects.filter(pk=left.file_id).aexists()
    await in_thread(tasks.sweep_recordings)
    assert await Recording.objects.acount() == 2


async def test_a_discarded_recording_is_gone_at_once(phone: Browser, mira: Companion) -> None:
    recording = await in_thread(recorded, mira)
    assert (await phone.post(f"recordings/{recording.pk}/delete/")).status_code == 204
    assert not await Recording.objects.aexists()
    assert not await StoredFile.objects.aexists()


async def test_no_more_than_two_of_one_person_are_weighed_at_once(phone: Browser) -> None:
    with LIMIT.of(phone.user.pk), LIMIT.of(phone.user.pk):
        response = await phone.record(spoken())
    assert (response.status_code, orjson.loads(response.content)["code"]) == (429, "too_many_recordings")
    assert not await Recording.objects.aexists()
    assert (await phone.record(spoken())).status_code == 201


async def test_what_was_heard_is_put_right_in_the_message_and_in_memory(
    phone: Browser, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"pieces": ["It is lovely there."]})
    recording = await in_thread(recorded, mira, "My sister Zxqvorn lives in Lisbon.")
    path = f"recordings/{recording.pk}"
    async with connected(phone.user, mira) as socket:
        await phone.post(f"{path}/send/", text="My sister Zxqvorn lives in Lisbon.", client_id="1")
        await socket.until("reply.done")
    message = await Message.objects.aget(client_id="1")
    page = await phone.get(f"{path}/correct/")
    assert "My sister Zxqvorn" in page.content.decode()
    done = await phone.post(f"{path}/correct/", text=SAID)
    assert done.status_code == 302
    await message.arefresh_from_db()
    await recording.arefresh_from_db()
    assert (message.text, recording.heard) == (SAID, SAID)
    assert (await Memory.objects.aget(message=message)).text == SAID
    assert await in_thread(tables_with, "Zxqvorn") == {}


async def test_nothing_heard_cannot_be_the_transcript(phone: Browser, mira: Companion) -> None:
    recording = await in_thread(recorded, mira)
    await phone.post(f"recordings/{recording.pk}/send/", text=SAID, client_id="1")
    await Reply.objects.aupdate(state="done")
    refused = await phone.post(f"recordings/{recording.pk}/correct/", text=" ")
    assert refused.status_code == 422
    assert (await Message.objects.aget(client_id="1")).text == SAID


async def test_only_what_was_sent_has_a_transcript_to_put_right(phone: Browser, mira: Companion) -> None:
    recording = await in_thread(recorded, mira)
    assert (await phone.get(f"recordings/{recording.pk}/correct/")).status_code == 404


ADDRESSES = ["transcribe/", "send/", "correct/", "delete/"]


@pytest.mark.parametrize("address", ADDRESSES)
async def test_anothers_recording_does_not_exist(
    phone: Browser, mira: Companion, tian: Companion, bob: User, mallory: User, address: str
) -> None:
    recording = await in_thread(recorded, mira)
    for person, companion in ((mallory, mira), (bob, tian)):
        response = await Browser(person, companion.pk).post(
            f"recordings/{recording.pk}/{address}", text="Mine"
        )
        assert response.status_code == 404
    assert await Recording.objects.filter(pk=recording.pk, heard=SAID, message=None).aexists()


async def test_nobody_records_for_anothers_companion(mira: Companion, mallory: User) -> None:
    assert (await Browser(mallory, mira.pk).record(spoken())).status_code == 404
    assert not await StoredFile.objects.aexists()


@pytest.mark.parametrize("meanwhile", ["sent", "deleted"])
async def test_what_is_heard_late_is_not_put_over_what_was_sent_or_deleted(
    speech_rehearsal: RehearsalServer, phone: Browser, mira: Companion, meanwhile: str
) -> None:
    recording = await in_thread(recorded, mira, "")
    speech_rehearsal.script_sound(hears("Something else", delay=1.0))
    hearing = asyncio.create_task(
        transcribe_recording(await in_thread(get_recording, mira.user, mira.pk, recording.pk), timezone.now)
    )
    while not speech_rehearsal.sound_requests():
        await asyncio.sleep(0.02)
    if meanwhile == "sent":
        sent = await phone.post(f"recordings/{recording.pk}/send/", text=SAID, client_id="1")
        assert sent.status_code == 201
    else:
        await Recording.objects.all().adelete()
    with pytest.raises(HearingError, match="recording_sent" if meanwhile == "sent" else "no_such_recording"):
        await hearing
    assert not await Recording.objects.filter(heard="Something else").aexists()
    if meanwhile == "sent":
        again = await phone.post(f"recordings/{recording.pk}/transcribe/")
        assert (again.status_code, again.json()["code"]) == (409, "recording_sent")

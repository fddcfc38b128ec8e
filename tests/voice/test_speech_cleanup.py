"""Nothing spoken outlasts its words: no row, no file, however they go."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import SoundCall, User
from companions.deletion import delete_companion, delete_message, forget
from companions.models import Companion, Message, Reply
from companions.replies.actions import go_on, keep_heard
from companions.replies.checkpoint import Said
from companions.replies.finish import finish
from files.contents import store_content
from files.models import StoredFile
from jobs.background import in_thread
from memory.models import Memory
from tests.companions.everywhere import tables_with
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.turns import make_companion
from tests.voice.speeches import Listener, answered, contents, said_by_itself
from voice import tasks
from voice.models import Speech, Spoken, Voice
from voice.speech.cache import sweep_speech

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("speech_rehearsal")]
MARKER = "Zauberwürfel"


@pytest.fixture
def listener(alice: User, mira: Companion) -> Listener:
    return Listener(alice, mira)


def left() -> tuple[int, int, int, int]:
    """How many are there of what was spoken, of speeches, of their files, and of contents."""
    files = StoredFile.objects.filter(kind=StoredFile.Kind.SPEECH).count()
    return Spoken.objects.count(), Speech.objects.count(), files, contents()


async def spoken(listener: Listener, *things: Reply | Message) -> None:
    for thing in things:
        assert (await listener.hear(thing, 0)).status_code == 200


async def test_a_message_takes_its_speech_along(listener: Listener, mira: Companion) -> None:
    reply = await in_thread(answered, mira, f"I like the {MARKER}. It turns.")
    await spoken(listener, reply)
    assert await in_thread(left) == (1, 1, 1, 1)
    assert reply.answer
    await in_thread(delete_message, reply.answer, timezone.now())
    assert await in_thread(left) == (0, 0, 0, 0)
    assert await in_thread(tables_with, MARKER) == {}


async def test_what_another_message_says_too_stays(listener: Listener, mira: Companion) -> None:
    first, second = [await in_thread(answered, mira, "Good evening.") for _ in range(2)]
    await spoken(listener, first, second)
    assert await in_thread(left) == (2, 1, 1, 1)
    assert first.answer
    assert second.answer
    await in_thread(delete_message, first.answer, timezone.now())
    assert await in_thread(left) == (1, 1, 1, 1)
    await in_thread(delete_message, second.answer, timezone.now())
    assert await in_thread(left) == (0, 0, 0, 0)


async def test_nobody_hears_what_was_spoken_for_another(
    speech_rehearsal: RehearsalServer, listener: Listener, mira: Companion, mallory: User
) -> None:
    theirs = await in_thread(make_companion, mallory)
    await spoken(listener, await in_thread(answered, mira, "Good evening."))
    await spoken(Listener(mallory, theirs), await in_thread(answered, theirs, "Good evening."))
    assert len(speech_rehearsal.sound_requests()) == 2
    assert await in_thread(left) == (2, 2, 2, 2)


async def test_the_question_takes_its_answer_along(listener: Listener, mira: Companion) -> None:
    reply = await in_thread(answered, mira, "Good evening.")
    await spoken(listener, reply)
    await in_thread(delete_message, reply.message, timezone.now())
    assert await in_thread(Reply.objects.count) == 0
    assert await in_thread(left) == (0, 0, 0, 0)


async def test_a_forgotten_memory_takes_along_what_was_spoken_of_it(
    listener: Listener, mira: Companion
) -> None:
    reply = await in_thread(answered, mira, "Good evening.")
    await spoken(listener, reply)
    memory = await in_thread(Memory.objects.get, message=reply.answer)
    await in_thread(forget, memory, timezone.now())
    assert await in_thread(left) == (0, 0, 0, 0)


async def test_a_companion_takes_everything_along(listener: Listener, mira: Companion) -> None:
    reply = await in_thread(answered, mira, "Good evening.")
    await spoken(listener, reply, await in_thread(said_by_itself, mira, "I thought of you."))
    assert await in_thread(left) == (2, 2, 2, 2)
    await in_thread(delete_companion, mira)
    assert await in_thread(left) == (0, 0, 0, 0)
    assert await in_thread(SoundCall.objects.count) == 2  # how much was used stays counted


async def test_what_was_not_heard_is_not_kept_as_spoken(listener: Listener, mira: Companion) -> None:
    reply = await in_thread(answered, mira, "One is here. Two is here. Three is here.")
    for number in range(3):
        assert (await listener.hear(reply, number)).status_code == 200
    await in_thread(keep_heard, reply, len("One is here. Two"), timezone.now())
    numbers = await in_thread(lambda: list(Spoken.objects.values_list("number", flat=True)))
    assert numbers == [0]
    assert await in_thread(left) == (1, 1, 1, 1)
    assert (await listener.hear(reply, 1)).status_code == 200
    assert (await listener.hear(reply, 2)).status_code == 204


async def test_what_an_answer_went_on_from_goes_with_it(listener: Listener, mira: Companion) -> None:
    def stopped_and_gone_on() -> tuple[Reply, Reply]:
        first = answered(mira, "Good evening. How")
        Reply.objects.filter(pk=first.pk).update(state=Reply.State.STOPPED)
        first.refresh_from_db()
        later = go_on(first, timezone.now())
        Reply.objects.filter(pk=later.pk).update(state=Reply.State.THINKING, lease_by="a test")
        said = Said(text="Good evening. How are you?")
        ended = finish(later, Reply.State.DONE, said, timezone.now(), held_by="a test")
        assert ended
        return first, ended

    first, later = await in_thread(stopped_and_gone_on)
    await spoken(listener, first, later)
    assert later.answer
    await in_thread(delete_message, later.answer, timezone.now())
    assert await in_thread(left) == (0, 0, 0, 0)


async def test_old_speech_is_swept_and_made_again_when_it_is_wanted(
    listener: Listener, mira: Companion, speech_rehearsal: RehearsalServer, settings: Any
) -> None:
    reply = await in_thread(answered, mira, "Good evening.")
    await spoken(listener, reply)
    now = timezone.now()
    assert await in_thread(sweep_speech, now + timedelta(days=settings.SPEECH_DAYS - 1)) == 0
    assert await in_thread(sweep_speech, now + timedelta(days=settings.SPEECH_DAYS + 1)) == 1
    assert await in_thread(left) == (0, 0, 0, 0)
    await spoken(listener, reply)
    assert len(speech_rehearsal.sound_requests()) == 2


async def test_what_nothing_holds_is_swept_after_an_hour(listener: Listener, mira: Companion) -> None:
    await spoken(listener, await in_thread(answered, mira, "Good evening."))
    now = timezone.now()

    def lose() -> None:
        Spoken.objects.all()._raw_delete("default")
        store_content(mira.user, b"sound", StoredFile.Kind.SPEECH, "audio/mpeg", now, companion=mira)

    await in_thread(lose)
    assert await in_thread(left) == (0, 1, 2, 2)
    await in_thread(tasks.sweep_speech)
    assert await in_thread(left) == (0, 1, 2, 2)
    assert await in_thread(sweep_speech, now + timedelta(hours=2)) == 2
    assert await in_thread(left) == (0, 0, 0, 0)


async def test_the_engines_words_hold_no_words_that_are_gone(
    speech_rehearsal: RehearsalServer, listener: Listener, mira: Companion
) -> None:
    reply = await in_thread(answered, mira, f"The {MARKER} is yours.")
    echo = {"detail": [{"msg": "busy\u0000", "input": f"The {MARKER} is yours."}, {"input": f"The {MARKER}"}]}
    speech_rehearsal.script_sound({"error": {"status": 503, "body": echo}})
    assert (await listener.hear(reply, 0)).status_code == 503
    said = (await in_thread(SoundCall.objects.get)).said
    assert "busy" in said
    assert "\0" not in said
    assert f"{MARKER} is yours" not in said
    assert reply.answer
    await in_thread(delete_message, reply.answer, timezone.now())
    assert (await in_thread(SoundCall.objects.get)).said == ""


def test_a_recording_that_nothing_imitates_is_swept(mira: Companion) -> None:
    now = timezone.now()
    more = {"kind": StoredFile.Kind.REFERENCE, "content_type": "audio/wav", "companion": mira}
    chosen, lone = (store_content(mira.user, b"x", now=now, **more) for _ in range(2))
    Voice.objects.create(companion=mira, reference=chosen, consent="Mine.", consented_at=now)
    assert sweep_speech(now) == 0
    assert sweep_speech(now + timedelta(hours=2)) == 1
    assert list(StoredFile.objects.all()) == [chosen]
    assert lone.key != chosen.key

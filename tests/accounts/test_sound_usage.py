"""What a person may have spoken and heard in a day, at its exact limits, and the rows that it is summed from."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.errors import GateError
from accounts.limits.usage import admit_hearing, admit_speech, note_sound
from accounts.models import SoundCall, User
from providers.errors import ProviderRefused, ProviderUnavailable

SPEECH, TRANSCRIPTION = SoundCall.Capability.SPEECH, SoundCall.Capability.TRANSCRIPTION
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
AN_HOUR = timedelta(hours=1)


def note(
    user: User, capability: SoundCall.Capability, at: datetime = NOON - AN_HOUR, **given: Any
) -> SoundCall:
    ended_at = at + timedelta(seconds=1.5)
    return note_sound(user.pk, capability, provider="espeak-ng", started_at=at, ended_at=ended_at, **given)


def refusal(admit: Any, user: User, amount: float) -> GateError:
    with pytest.raises(GateError) as caught:
        admit(user, amount, NOON)
    return caught.value


def test_the_days_characters_are_exact(alice: User, settings: Settings) -> None:
    settings.SPEECH_CHARACTERS_PER_DAY = 100
    note(alice, SPEECH, characters=60, seconds=5)
    admit_speech(alice, 40, NOON)
    error = refusal(admit_speech, alice, 41)
    assert error.code == "no_speech_left"
    assert error.retry_after_seconds == 11 * 3_600  # Berlin's midnight
    assert error.detail


def test_the_days_seconds_are_exact(alice: User, settings: Settings) -> None:
    settings.HEARING_SECONDS_PER_DAY = 60
    note(alice, TRANSCRIPTION, seconds=45.5)
    admit_hearing(alice, 14.5, NOON)
    error = refusal(admit_hearing, alice, 14.6)
    assert error.code == "no_hearing_left"
    assert error.retry_after_seconds == 11 * 3_600


def test_speaking_takes_nothing_from_hearing(alice: User, settings: Settings) -> None:
    settings.SPEECH_CHARACTERS_PER_DAY, settings.HEARING_SECONDS_PER_DAY = 100, 60
    note(alice, SPEECH, characters=100, seconds=1_000)
    admit_hearing(alice, 60, NOON)
    note(alice, TRANSCRIPTION, seconds=60)
    assert refusal(admit_speech, alice, 1).code == "no_speech_left"


def test_a_new_day_begins_where_the_person_lives(alice: User, bob: User, settings: Settings) -> None:
    settings.SPEECH_CHARACTERS_PER_DAY = 100
    yesterday_in_berlin = datetime(2026, 3, 9, 22, 59, tzinfo=UTC)
    for person in (alice, bob):
        note(person, SPEECH, yesterday_in_berlin, characters=100)
    admit_speech(alice, 100, NOON)
    # It is today's in Shanghai, until midnight.
    assert refusal(admit_speech, bob, 1).retry_after_seconds == 4 * 3_600


def test_nobody_pays_for_another(alice: User, bob: User, settings: Settings) -> None:
    settings.SPEECH_CHARACTERS_PER_DAY = 100
    note(bob, SPEECH, characters=100)
    admit_speech(alice, 100, NOON)


@pytest.mark.parametrize(
    ("error", "outcome", "counts"),
    [
        (None, "done", True),
        (asyncio.CancelledError(), "stopped", True),
        (ProviderUnavailable("It hangs"), "unavailable", False),
        (ProviderRefused("No such voice"), "refused", False),
    ],
)
def test_a_call_is_noted_however_it_ended_and_what_failed_is_not_used(
    alice: User, error: BaseException | None, outcome: str, counts: bool
) -> None:
    call = note(alice, SPEECH, characters=12, seconds=2.5, model="kokoro", error=error)
    call.refresh_from_db()
    assert (call.outcome, call.milliseconds, call.model) == (outcome, 1_500, "kokoro")
    assert call.said == getattr(error, "said", "")
    assert SoundCall.objects.used()["characters"] == (12 if counts else 0)


@pytest.mark.django_db(transaction=True)  # the database checks at the end whether the companion is there
def test_a_call_counts_even_if_its_companion_was_deleted_meanwhile(alice: User) -> None:
    call = note(alice, SPEECH, characters=12, companion_id=uuid4())
    call.refresh_from_db()
    assert (call.companion_id, call.characters) == (None, 12)


def test_a_long_address_is_cut(alice: User) -> None:
    call = note_sound(
        alice.pk, SPEECH, provider="http://" + "x" * 300, started_at=NOON, ended_at=NOON - AN_HOUR
    )
    assert len(call.provider) == 200
    assert call.milliseconds == 0


def test_the_gate_is_one_query(alice: User, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    note(alice, SPEECH, characters=7)
    note(alice, TRANSCRIPTION, seconds=3.5)
    with django_assert_num_queries(1):
        admit_speech(alice, 1, NOON)
    used = SoundCall.objects.used()
    assert (used["characters"], used["seconds_heard"]) == (7, 3.5)

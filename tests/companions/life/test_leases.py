"""What a dead worker held goes on soon after another one starts; what a clock that was ahead put off is free again."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import Model

from companions.life.clock import restore_times
from companions.life.leases import shorten_leases
from companions.models import (
    ArchiveUpload,
    Closing,
    Companion,
    Comparison,
    Job,
    Life,
    PastImport,
    Session,
    Waking,
)
from jobs.lease import LEASE_TIME, RETRY_DELAY
from memory.models import Consolidation, DiaryEntry, Document
from tests.companions.life.waking import NOON, woken

MINUTE, DAY, YEAR = timedelta(minutes=1), timedelta(days=1), timedelta(days=365)
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]


def lease_all(mira: Companion, until: Any) -> list[tuple[type[Model], str]]:
    """Give the companion a row of each table that workers lease, all leased until then; return tables and columns."""
    mine = {"companion": mira}
    session = mira.conversation.sessions.get()  # its greeting's
    job = Job.objects.create(kind=Job.Kind.IMPORT_PAST, **mine)
    ArchiveUpload.objects.create(user=mira.user, state="waiting", created_at=NOON)
    Closing.objects.create(session=session, until_at=NOON, asked_at=NOON, next_at=NOON, **mine)
    Comparison.objects.create(own_model="a", other_model="b", created_at=NOON, **mine)
    Consolidation.objects.create(night_of=NOON.date(), asked_at=NOON, next_at=NOON, **mine)
    DiaryEntry.objects.create(
        session=session, title="A day", started_at=NOON, ended_at=NOON, made_at=NOON, is_stale=True, **mine
    )
    Document.objects.create(title="On tea", characters=9, given_at=NOON, **mine)
    PastImport.objects.create(job=job, form="text", before_at=NOON, created_at=NOON, **mine)
    woken(mira, NOON)
    leased: list[tuple[type[Model], str]] = [
        (ArchiveUpload, "look_at"),
        (Closing, "next_at"),
        (Comparison, "next_at"),
        (Consolidation, "next_at"),
        (DiaryEntry, "next_at"),
        (Document, "next_at"),
        (Life, "reflect_at"),
        (PastImport, "look_at"),
        (Session, "digest_at"),
        (Waking, "look_at"),
    ]
    for model, column in leased:
        assert model._default_manager.update(**{column: until}) == 1
    return leased


def read_times(leased: list[tuple[type[Model], str]]) -> set[Any]:
    return {model._default_manager.values_list(column, flat=True).get() for model, column in leased}


def test_what_a_dead_worker_held_is_soon_free(mira: Companion) -> None:
    leased = lease_all(mira, NOON + LEASE_TIME)
    assert shorten_leases(NOON + MINUTE) == len(leased)
    assert read_times(leased) == {NOON + MINUTE + RETRY_DELAY}
    assert shorten_leases(NOON + MINUTE) == 0


@pytest.mark.parametrize("until", [MINUTE / 2, LEASE_TIME + MINUTE, DAY], ids=str)
def test_what_is_soon_free_anyway_or_waits_for_tomorrow_is_left_alone(
    mira: Companion, until: timedelta
) -> None:
    leased = lease_all(mira, NOON + until)
    assert shorten_leases(NOON) == 0
    assert read_times(leased) == {NOON + until}


def test_what_was_leased_by_a_clock_that_was_ahead_is_free(mira: Companion) -> None:
    leased = lease_all(mira, NOON + YEAR)
    mira.timers.all().delete()
    assert restore_times(NOON) == len(leased)
    assert read_times(leased) == {NOON, None}  # None is the reflection's


def test_what_waits_for_tomorrow_waits_whatever_the_clock_was(mira: Companion) -> None:
    leased = lease_all(mira, NOON + DAY)
    mira.timers.all().delete()
    assert restore_times(NOON) == 0
    assert read_times(leased) == {NOON + DAY}

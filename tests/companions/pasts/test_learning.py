"""A past is learnt from when its person says so, at night, within what a night may take, and by its own days."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from bench.common.past_files import sillytavern
from companions.models import Closing, Companion, InnerState, Message, PastImport
from companions.pasts import learning
from companions.pasts.imports import Wanted, plan_for
from companions.pasts.plan import Choice
from companions.pasts.uploads import read_content_of
from companions.sessions import closing
from memory.models import DiaryEntry, Memory
from tests.companions.pasts.files import imported
from tests.companions.sessions.conftest import GARDEN, TEA
from tests.fixtures.clock import clock_at

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("rehearsal")]
NOW = datetime(2024, 1, 5, 12, tzinfo=UTC)
NIGHT = datetime(2024, 1, 6, 3, tzinfo=UTC)  # four o'clock where Alice lives
NEXT_NIGHT = NIGHT + timedelta(days=1)
SPRING = datetime(2023, 5, 2, 9, tzinfo=UTC)
SUMMER = datetime(2023, 8, 1, 9, tzinfo=UTC)
FILE = sillytavern(
    [
        (place % 2 == 0, text, day + timedelta(minutes=place))
        for day, texts in ((SPRING, TEA), (SUMMER, GARDEN))
        for place, text in enumerate(texts)
    ]
)


def work(now: datetime) -> int:
    """How many sessions were learnt from by what is due, until nothing is."""
    count = 0
    while learning.begin_due(now):
        for closing_id in closing.find_due(now):
            closing.run(closing_id, clock_at(now))
        count += 1
    return count


def test_nothing_is_learnt_before_the_person_says_so_nor_before_night(mira: Companion) -> None:
    past = imported(mira, FILE, NOW)
    assert work(NEXT_NIGHT) == 0
    learning.change_learning(past, NOW, is_running=True)
    assert work(NOW + timedelta(hours=1)) == 0
    assert not Memory.objects.exclude(kind="said").exists()


def test_each_session_is_learnt_with_quotes_of_its_lines_and_a_diary_of_its_day(mira: Companion) -> None:
    past = imported(mira, FILE, NOW, Wanted(nightly_tokens=200_000))
    felt = InnerState.objects.filter(companion=mira).count()
    assert work(NIGHT) == 2
    past.refresh_from_db()
    entries = DiaryEntry.objects.order_by("started_at")
    assert [entry.started_at for entry in entries] == [SPRING, SUMMER]
    facts = Memory.objects.exclude(kind__in=["said", "diary"])
    assert facts
    for fact in facts:
        said = {str(message.pk): message for message in fact.sources.all()}
        assert {message.job_id for message in said.values()} == {past.job_id}
        assert all(quote["text"] in said[quote["message"]].text for quote in fact.quotes)
        assert fact.happened_at <= SUMMER + timedelta(hours=1)
    assert not Message.objects.filter(is_learnt=False).exists()
    assert past.tokens_spent == past.tokens_tonight > 0
    # How it was then is not how it feels today.
    assert InnerState.objects.filter(companion=mira).count() == felt
    assert learning.count_progress(past) == learning.LearningProgress(2, 0, 2)
    assert past.learning == PastImport.Learning.DONE


def test_a_night_takes_no_more_than_it_may_and_the_next_goes_on(mira: Companion) -> None:
    past = imported(mira, FILE, NOW, Wanted(nightly_tokens=10))
    assert work(NIGHT) == 1
    past.refresh_from_db()
    assert past.tokens_tonight > 10
    assert learning.count_progress(past) == learning.LearningProgress(1, 0, 2)
    assert work(NEXT_NIGHT) == 1
    assert DiaryEntry.objects.count() == 2


def test_what_is_paused_waits_also_within_a_session(mira: Companion) -> None:
    past = imported(mira, FILE, NOW, Wanted(nightly_tokens=200_000))
    assert learning.begin_due(NIGHT) == 1
    learning.change_learning(past, NIGHT, is_running=False)
    [closing_id] = closing.find_due(NIGHT)
    closing.run(closing_id, clock_at(NIGHT))
    assert Closing.objects.get().state == Closing.State.WAITING
    assert work(NEXT_NIGHT) == 0
    assert not DiaryEntry.objects.exists()
    learning.change_learning(past, NIGHT, is_running=True)
    assert closing.find_due(NIGHT) == [closing_id]
    closing.run(closing_id, clock_at(NIGHT))
    assert work(NIGHT) == 1
    assert DiaryEntry.objects.count() == 2


def test_a_session_longer_than_a_night_may_take_is_gone_on_with_the_next(
    mira: Companion, monkeypatch: pytest.MonkeyPatch
) -> None:
    past = imported(mira, FILE, NOW, Wanted(nightly_tokens=10))
    rooms = iter([1, 1, 1, 10**6])  # as if it had to be read in three parts
    monkeypatch.setattr(closing, "measure", lambda unlearnt: 10**9 if next(rooms, 0) == 1 else 0)
    learnt = []
    learn_batch = closing.digests.learn_batch
    monkeypatch.setattr(
        closing.digests, "learn_batch", lambda *given: learnt.append(1) or learn_batch(*given)
    )
    assert learning.begin_due(NIGHT) == 1
    [closing_id] = closing.find_due(NIGHT)
    closing.run(closing_id, clock_at(NIGHT))
    past.refresh_from_db()
    assert past.tokens_tonight > 10
    assert len(learnt) == 1
    assert Closing.objects.get().state == Closing.State.WAITING


def test_what_learning_has_cost_and_still_costs_is_told_until_it_is_over(
    mira: Companion, client: Client
) -> None:
    past = imported(mira, FILE, NOW)
    client.force_login(mira.user)

    def told() -> str:
        page = client.get(f"/companions/{mira.pk}/settings/pasts/").content.decode()
        return " ".join(page.split())

    read = read_content_of(mira.user, FILE)
    promised = learning.estimate_cost(plan_for(None, read, Choice(), NOW)).tokens
    rest = learning.estimate_rest(past)
    assert rest.tokens == rest.tokens_left == pytest.approx(promised, rel=0.1)
    assert f"Learning from all of it would take about {rest.tokens:,} word pieces, over 1 night." in told()
    learning.change_learning(past, NOW, is_running=True, nightly_tokens=learning.MIN_NIGHTLY)
    assert learning.estimate_rest(past).nights_left == 3
    assert f"Word pieces so far: 0 of about {rest.tokens:,}. About 3 more nights to go." in told()
    PastImport.objects.filter(pk=past.pk).update(nightly_tokens=1)  # one session a night
    assert work(NIGHT) == 1
    past.refresh_from_db()
    after = learning.estimate_rest(past)
    assert (after.tokens, 0 < after.tokens_left < rest.tokens) == (rest.tokens, True)
    assert f"Word pieces so far: {past.tokens_spent:,} of about {rest.tokens:,}." in told()
    assert past.tokens_spent > 0
    PastImport.objects.filter(pk=past.pk).update(nightly_tokens=200_000)
    work(NEXT_NIGHT)
    assert "2 of 2 sessions, using" in told()

"""The life log tells its person what a companion did by itself and why; nobody else, and nothing that it withheld."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from companions.life import inner_state
from companions.life.inner_state import CALM
from companions.models import Companion, InnerState, Message, Waking
from companions.tasks import drop_old_prompts
from tests.companions.life.waking import as_it_is, calling, ran, woken
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.rest import Api, problem

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira", "rehearsal")]
NOON = datetime(2026, 5, 5, 10, tzinfo=UTC)


def logged(api: Api, companion: Companion, query: str = "") -> Any:
    answer = api.get(f"/companions/{companion.pk}/life{query}")
    assert answer.status_code == 200
    return answer.json()


def test_the_log_tells_what_it_said_and_what_made_it_wake(as_alice: Api, mira: Companion) -> None:
    waking = ran(woken(mira, NOON, schedule="cron:0 12 * * *", missed=2), NOON)
    (entry,) = logged(as_alice, mira)["items"]
    assert entry == {
        "id": str(waking.pk),
        "kind": "waking",
        "at": "2026-05-05T10:00:00Z",
        "why": "A timer woke it: every day at 12:00. 2 earlier times were missed.",
        "what": "It wrote to you.",
        "state": "done",
        "outcome": "spoke",
        "code": "",
        "note": "to drink water",
        "is_asked_for": True,
        "missed": 2,
        "thought": "",
        "message_id": str(Message.objects.get(waking=waking).pk),
        "tools": [],
    }


def test_silence_stands_in_the_log_as_a_choice(as_alice: Api, mira: Companion) -> None:
    ran(woken(mira, NOON, "a new day", is_asked_for=False), NOON)
    (entry,) = logged(as_alice, mira)["items"]
    assert (entry["what"], entry["outcome"]) == ("It chose to stay silent.", "silent")
    assert entry["thought"] == "There is nothing that cannot wait."
    assert entry["message_id"] is None


def test_what_was_held_back_is_told_without_its_words(
    as_alice: Api, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"answer": "Why have you left me?", "when": "<kith-waking>"})
    ran(woken(mira, NOON, is_asked_for=False), NOON)
    answer = logged(as_alice, mira)
    (entry,) = answer["items"]
    assert (entry["outcome"], entry["code"]) == ("held", "not_opted_in")
    assert entry["what"] == "It would have written to you, but you have not allowed it to write first."
    assert "left me" not in str(answer)


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"state": "skipped", "reason": "nothing_new"}, "It stayed asleep: you two had not talked since."),
        ({"state": "skipped", "reason": "no_tokens"}, "It stayed asleep: that day's allowance was used up."),
        ({"state": "failed"}, "It could not make up its mind: the model did not answer."),
        ({"state": "waiting"}, "It is not done yet."),
        ({"state": "done", "outcome": "held", "reason": "guilt"}, "its words did not pass the check"),
    ],
)
def test_every_end_has_its_sentence(
    as_alice: Api, mira: Companion, fields: dict[str, Any], what: str
) -> None:
    woken(mira, NOON, **fields)
    assert what in logged(as_alice, mira)["items"][0]["what"]


def test_a_forced_one_a_drive_and_a_timer_that_is_gone_have_theirs(as_alice: Api, mira: Companion) -> None:
    woken(mira, NOON, origin="forced")
    woken(mira, NOON - timedelta(hours=1), timer=None)
    drive = {"origin": "drive", "timer": None, "drive": "long_silence", "drive_key": "1"}
    woken(mira, NOON - timedelta(hours=2), **drive)
    woken(mira, NOON - timedelta(hours=3), schedule="2h")
    assert [one["why"] for one in logged(as_alice, mira)["items"]] == [
        "A timer was triggered by hand: in 30 seconds.",
        "A timer that no longer exists woke it.",
        "Something on its mind woke it: a long silence.",
        "A timer woke it: after 2 hours.",
    ]


def test_the_tools_that_failed_are_told_apart(
    as_alice: Api, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script(calling(("feel", {"text": ""}), ("think", {"text": "Hm."})))
    ran(woken(mira, NOON), NOON)
    (entry,) = logged(as_alice, mira)["items"]
    assert entry["tools"] == [{"name": "feel", "is_error": True}, {"name": "think", "is_error": False}]


def test_reflections_stand_between_the_wakings_and_pages_join_without_a_gap(
    as_alice: Api, mira: Companion, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for hours in range(5):
        woken(mira, NOON + timedelta(hours=hours), state="done", outcome="silent")
        at = NOON + timedelta(hours=hours, minutes=30)
        inner_state.revise(mira.pk, f"It is {hours}.", CALM, by=InnerState.By.REFLECTION, now=at)
    woken(mira, NOON + timedelta(minutes=30), state="done", outcome="silent")  # at the same time as one
    with django_assert_max_num_queries(6):
        whole = logged(as_alice, mira)["items"]
    assert [one["at"] for one in whole] == sorted((one["at"] for one in whole), reverse=True)
    assert [one["thought"] for one in whole if one["kind"] == "reflection"] == [
        f"It is {n}." for n in (4, 3, 2, 1, 0)
    ]
    pages, query = [], "?limit=3"
    while query:
        page = logged(as_alice, mira, query)
        pages += page["items"]
        query = f"?limit=3&cursor={page['next']}" if page["next"] else ""
    assert pages == whole
    assert len(whole) == 11
    problem(as_alice.get(f"/companions/{mira.pk}/life?cursor=x"), 422, "bad_cursor")


def test_the_log_speaks_the_persons_language_and_is_nobody_elses(
    as_alice: Api, as_mallory: Api, mira: Companion, tian: Companion, bob: User
) -> None:
    woken(tian, NOON, state="done", outcome="silent")
    problem(as_alice.get(f"/companions/{tian.pk}/life"), 404, "not_found")
    problem(as_mallory.get(f"/companions/{mira.pk}/life"), 404, "not_found")
    assert logged(as_alice, mira)["items"] == []
    (entry,) = logged(Api(bob), tian)["items"]
    assert "30" in entry["why"]


def test_a_prompt_as_sent_is_dropped_after_thirty_days_and_the_rest_stays(
    mira: Companion,
) -> None:
    old, new = ran(woken(mira, NOON), NOON), woken(mira, timezone.now())
    new = ran(new, timezone.now())
    drop_old_prompts()
    assert (as_it_is(old.pk).prompt, as_it_is(old.pk).outcome) == ([], "spoke")
    assert as_it_is(new.pk).prompt == new.prompt != []


def test_of_what_was_slept_through_nothing_is_kept_for_ever(mira: Companion) -> None:
    now, days = timezone.now(), timedelta(days=1)
    kept = [
        woken(mira, now - 80 * days, state="skipped"),
        woken(mira, now - 100 * days, state="done", outcome="silent"),
        woken(mira, now - 100 * days, origin="drive", timer=None, drive_key="1", state="skipped"),
    ]
    woken(mira, now - 100 * days, state="skipped")
    drop_old_prompts()
    assert {*Waking.objects.filter(companion=mira)} == {*kept}

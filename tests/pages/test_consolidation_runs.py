"""What was done by night, seen, undone and settled by the companion's person."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from companions.models import Companion
from memory.models import Change, Consolidation, Memory, Pursuit
from memory.store import correct, keep_fact

pytestmark = pytest.mark.usefixtures("module_mira")
NOW = timezone.now()


def a_night(companion: Companion, day: int = 1, state: str = "done") -> Consolidation:
    at = NOW - timedelta(days=30 - day)
    return Consolidation.objects.create(
        companion=companion, night_of=date(2023, 5, day), asked_at=at, next_at=at, ended_at=at, state=state
    )


def change(night: Consolidation, kind: str, texts: list[str], **before: Any) -> Change:
    memories = [keep_fact(night.companion_id, text, NOW, NOW) for text in texts]
    told = {"number": night.changes.count() + 1, "kind": kind, "memory": memories[0], "before": before}
    made = Change.objects.create(companion_id=night.companion_id, consolidation=night, **told)
    made.others.set(memories[1:])
    return made


@pytest.fixture
def merged(mira: Companion) -> Change:
    made = change(
        a_night(mira),
        "merged",
        ["Plays the cello", "A cellist"],
        evidence=1,
        quotes=0,
        sources=[],
        others=1,
        became={"evidence": 2, "quotes": 0},
    )
    Memory.objects.filter(pk=made.memory_id).update(evidence=2)
    made.others.update(closed_at=NOW, replaced_by=made.memory)
    return made


@pytest.fixture
def held_against(mira: Companion) -> Change:
    return change(a_night(mira), "contradiction", ["Likes <b>coffee</b>", "Hates coffee"])


def page(client: Client, companion: Companion) -> str:
    return client.get(f"/companions/{companion.pk}/nights/").content.decode()


def post(client: Client, made: Change, deed: str, **fields: str) -> str:
    path = f"/companions/{made.companion_id}/nights/changes/{made.pk}/{deed}/"
    return client.post(path, fields, follow=True).content.decode()


def test_an_empty_page_says_how_nights_come(at_home: Client, mira: Companion) -> None:
    assert "No nights yet. Talk to Mira today" in page(at_home, mira)


def test_each_thing_done_is_told_in_plain_words(at_home: Client, mira: Companion, merged: Change) -> None:
    night = merged.consolidation
    change(night, "insight", ["Music is home", "Plays the cello at night", "Sings"])
    stands = {"status": "new", "progress": 0, "excitement": 5}
    became = {"status": "under_way", "progress": 20, "excitement": 8}
    goal = change(night, "reviewed", ["A concert of her own"], **stands, became=became, reviewed_at=None)
    Memory.objects.filter(pk=goal.memory_id).update(kind="goal")
    Pursuit.objects.create(companion=mira, memory=goal.memory, **became)
    shown = page(at_home, mira)
    for words in (
        "Early on 1 May 2023",
        "Merged, because they say the same thing",
        "A cellist",
        "Told 2 times in all.",
        "A new thought",
        "from 2 memories",
        "Reviewed a goal",
        "new · 0\u00a0% · keen on it → under way · 20\u00a0% · very keen on it",
    ):
        assert words in shown, words


def test_a_merge_is_undone_and_that_is_said(at_home: Client, mira: Companion, merged: Change) -> None:
    shown = post(at_home, merged, "undo")
    assert "Undone: they are separate again." in shown
    assert f"/nights/changes/{merged.pk}/undo/" not in shown
    assert merged.others.get().closed_at is None
    assert "This has already been undone." in post(at_home, merged, "undo")


def test_what_was_corrected_since_is_not_undone_and_that_is_said(
    at_home: Client, mira: Companion, merged: Change
) -> None:
    correct(merged.memory, "Plays the viola", timezone.now())
    assert "has since been changed or deleted" in post(at_home, merged, "undo")
    assert merged.others.get().closed_at


@pytest.mark.parametrize(("keep", "closed"), [("a", 1), ("b", 0), ("both", None)])
def test_a_contradiction_is_settled_and_can_be_opened_again(
    at_home: Client, mira: Companion, held_against: Change, keep: str, closed: int | None
) -> None:
    shown = page(at_home, mira)
    assert "These two contradict each other" in shown
    assert "Likes &lt;b&gt;coffee&lt;/b&gt;" in shown
    assert "Settled: " in post(at_home, held_against, "settle", keep=keep)
    pair = [Memory.objects.get(pk=held_against.memory_id), held_against.others.get()]
    assert [bool(one.closed_at) for one in pair] == [place == closed for place in range(2)]
    assert "Undone: this is open again." in post(at_home, held_against, "undo")
    assert not Memory.objects.filter(closed_at__isnull=False).exists()


@pytest.mark.parametrize("keep", ["", "c", "A"])
def test_what_is_no_choice_settles_nothing(
    at_home: Client, mira: Companion, held_against: Change, keep: str
) -> None:
    assert "Choose one of the two, or both." in post(at_home, held_against, "settle", keep=keep)
    held_against.refresh_from_db()
    assert held_against.settled == ""


def test_a_contradiction_of_which_one_is_gone_asks_nothing(
    at_home: Client, mira: Companion, held_against: Change
) -> None:
    held_against.others.get().delete()
    shown = page(at_home, mira)
    assert "What was here has been deleted." in shown
    assert "Keep the first" not in shown


def test_a_night_without_anything_to_do_and_one_that_failed_say_so(at_home: Client, mira: Companion) -> None:
    a_night(mira)
    failed = a_night(mira, 2, "failed")
    Consolidation.objects.filter(pk=failed.pk).update(error="provider_unavailable")
    shown = page(at_home, mira)
    assert "There was nothing to do." in shown
    assert "The model could not be reached. Nothing was changed." in shown


def test_earlier_nights_come_by_pages_and_none_is_left_out(at_home: Client, mira: Companion) -> None:
    for day in range(1, 26):
        a_night(mira, day)
    path, found = f"/companions/{mira.pk}/nights/", []
    while path:
        response = at_home.get(path)
        found += [one.night_of.day for one in response.context["nights"]]
        following = response.context["following"]
        path = f"/companions/{mira.pk}/nights/?cursor={following}" if following else ""
    assert found == list(range(25, 0, -1))
    assert at_home.get(f"/companions/{mira.pk}/nights/?cursor=x").status_code == 404


def test_a_page_costs_the_same_for_one_night_and_for_ten(
    at_home: Client, mira: Companion, django_assert_max_num_queries: Any
) -> None:
    for day in range(1, 11):
        night = a_night(mira, day)
        for _ in range(3):
            change(night, "insight", ["Music is home", "Plays the cello", "Sings"])
    with django_assert_max_num_queries(6):  # session, user, companion, nights, changes, others
        assert at_home.get(f"/companions/{mira.pk}/nights/").status_code == 200


def test_anothers_change_is_not_there(
    client: Client, mallory: User, tian: Companion, bob: User, held_against: Change
) -> None:
    for person, companion_id in ((mallory, held_against.companion_id), (bob, tian.pk)):
        client.force_login(person)
        for deed in ("undo", "settle"):
            path = f"/companions/{companion_id}/nights/changes/{held_against.pk}/{deed}/"
            assert client.post(path, {"keep": "a"}).status_code == 404
    assert not Memory.objects.filter(closed_at__isnull=False).exists()


def test_the_newest_failed_night_can_be_tried_again(at_home: Client, mira: Companion) -> None:
    older, newest = a_night(mira, 1, "failed"), a_night(mira, 2, "failed")
    Consolidation.objects.filter(pk=newest.pk).update(attempts=8, error="provider_refused")
    path = f"/companions/{mira.pk}/nights/"
    shown = page(at_home, mira)
    assert "The model refused to answer. Nothing was changed." in shown
    assert f"{path}{newest.pk}/retry/" in shown
    assert f"{path}{older.pk}/retry/" not in shown
    assert "Last night: it did not work" in at_home.get(f"/companions/{mira.pk}/memories/").content.decode()

    shown = at_home.post(f"{path}{newest.pk}/retry/", follow=True).content.decode()
    assert "Mira is going through what is new." in shown
    newest.refresh_from_db()
    assert (newest.state, newest.attempts, newest.error, newest.ended_at) == ("waiting", 0, "", None)

    again = at_home.post(f"{path}{newest.pk}/retry/", follow=True).content.decode()
    assert "begun again already" in again
    assert "begun again already" in at_home.post(f"{path}{older.pk}/retry/", follow=True).content.decode()
    older.refresh_from_db()
    assert older.state == "failed"


def test_a_night_that_waits_says_until_when_and_why(at_home: Client, mira: Companion) -> None:
    night = a_night(mira, 1, "waiting")
    waiting = Consolidation.objects.filter(pk=night.pk)
    waiting.update(ended_at=None, next_at=NOW + timedelta(hours=9))
    assert "allowance is used up. Mira goes through what is new on" in page(at_home, mira)
    waiting.update(error="provider_unavailable", attempts=1)
    assert "The model could not be reached. Nothing has been changed yet." in page(at_home, mira)

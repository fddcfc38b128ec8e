"""A whole talk with the rehearsal model: asked to remind somebody, it sets a timer and says when."""

from typing import Any

import pytest

from accounts.models import User
from companions.models import Companion, Timer
from jobs.background import in_thread
from tests.fixtures.rest import Api

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("web")]


async def said(person: Api, companion: Companion, text: str) -> str:
    """What the companion answers."""
    response = await person.apost(f"/companions/{companion.pk}/messages", {"text": text})
    turn: dict[str, Any] = response.json()
    assert turn["reply"]["state"] == "done", turn
    answer: str = turn["reply"]["text"]
    return answer


async def test_asked_to_remind_it_sets_a_timer_and_says_when(as_alice: Api, mira: Companion) -> None:
    answer = await said(as_alice, mira, "remind me in 30s to drink water")
    timer: Timer = await in_thread(Timer.objects.select_related("message").get, companion=mira, name="")
    assert (timer.schedule, timer.note, timer.by, timer.is_asked_for) == (
        *("30s", "to drink water"),
        *("companion", True),
    )
    assert timer.message
    assert timer.message.text == "remind me in 30s to drink water"
    assert timer.due_at
    clock = f"{timer.due_at.astimezone(mira.user.zone):%H:%M}"
    assert clock in answer
    assert answer.endswith(" to drink water.")
    listed = await said(as_alice, mira, "What timers do I have?")
    assert "to drink water" in listed


async def test_it_does_so_in_chinese(bob: User, tian: Companion) -> None:
    person = await in_thread(Api, bob)
    answer = await said(person, tian, "30秒后提醒我喝水")
    timer: Timer = await in_thread(Timer.objects.get, companion=tian, name="")
    assert (timer.schedule, timer.note) == ("30s", "喝水")
    assert answer.endswith("提醒你喝水。")


async def test_what_it_cannot_set_it_says(as_alice: Api, mira: Companion) -> None:
    answer = await said(as_alice, mira, "remind me in 0 seconds to drink water")
    assert "at least one second" in answer
    assert not await in_thread(Timer.objects.filter(companion=mira, name="").exists)

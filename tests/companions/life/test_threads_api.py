"""What is open between the two, seen and ended by the person: through the API, on the page, and in wakings."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.test import Client

from companions.life.triggers import make_waking
from companions.models import Companion, Waking
from memory.models import Memory, Thread
from memory.store import keep_fact
from memory.threads import TITLE, open_thread
from tests.companions.life.waking import let_speak, ran, say, woken
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.rest import Api

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]
NOON = datetime(2026, 5, 5, 10, tzinfo=UTC)
DAY = timedelta(days=1)
TEXT = "Alice's exam is on Friday, 8 May 2026."


@pytest.fixture
def thread(mira: Companion) -> Thread:
    said = say(mira, "My exam is on Friday.", at=NOON)[0]
    memory = keep_fact(mira.pk, TEXT, NOON, NOON, [said.pk], zone=mira.user.zone)
    Memory.objects.filter(pk=memory.pk).update(kind="event")
    memory.refresh_from_db()
    return open_thread(memory, date(2026, 5, 8), NOON)


def test_it_is_listed_settled_and_opened_again(as_alice: Api, mira: Companion, thread: Thread) -> None:
    path = f"/companions/{mira.pk}/threads"
    [item] = as_alice.get(f"{path}?state=open").json()["items"]
    assert (item["text"], item["due_on"], item["state"], item["closed_at"]) == (
        TEXT,
        "2026-05-08",
        "open",
        None,
    )
    settled = as_alice.call("PATCH", f"{path}/{thread.pk}", {"state": "settled"}).json()
    assert (settled["state"], settled["closed_at"] is not None) == ("settled", True)
    assert as_alice.get(f"{path}?state=open").json()["items"] == []
    dropped = as_alice.call("PATCH", f"{path}/{thread.pk}", {"state": "dropped"}).json()
    assert dropped["state"] == "dropped"
    assert as_alice.call("PATCH", f"{path}/{thread.pk}", {"state": "open"}).json()["closed_at"] is None
    assert as_alice.call("PATCH", f"{path}/{thread.pk}", {"state": "gone"}).status_code == 422


def test_it_stands_on_the_page_of_goals_with_what_ends_it(
    client: Client, mira: Companion, thread: Thread
) -> None:
    client.force_login(mira.user)
    url = f"/companions/{mira.pk}/pursuits/"
    shown = client.get(url).content.decode()
    assert "Open between you" in shown
    assert "exam is on Friday" in shown
    client.post(f"/companions/{mira.pk}/threads/{thread.pk}/", {"state": "dropped"})
    thread.refresh_from_db()
    assert thread.state == "dropped"
    assert "Open it again" in client.get(url).content.decode()
    wrong = client.post(f"/companions/{mira.pk}/threads/{thread.pk}/", {"state": "x"}, follow=True)
    assert "Choose whether it is settled, dropped or open." in wrong.content.decode()
    thread.refresh_from_db()
    assert thread.state == "dropped"


@pytest.mark.usefixtures("rehearsal")
def test_a_waking_is_told_of_it_when_it_is_due(
    mira: Companion, thread: Thread, rehearsal: RehearsalServer
) -> None:
    waking = ran(woken(mira, NOON + 2 * DAY), NOON + 2 * DAY)
    told = rehearsal.requests()[-1]["messages"][-1]["content"]
    assert f'{TITLE}\n- Coming up tomorrow: "{TEXT}"' in told
    assert thread.memory_id in waking.shown


@pytest.mark.parametrize(
    ("days", "state", "woke"),
    [(1, "open", False), (2, "open", True), (4, "open", True), (2, "settled", False), (4, "dropped", False)],
)
def test_its_day_moves_the_companion_until_it_is_settled(
    mira: Companion, thread: Thread, days: int, state: str, woke: bool
) -> None:
    let_speak(mira)
    closed_at = None if state == "open" else NOON
    Thread.objects.filter(pk=thread.pk).update(state=state, closed_at=closed_at)
    make_waking(mira.pk, NOON + days * DAY)
    notes = [waking.note for waking in Waking.objects.filter(drive="event")]
    assert bool(notes) is woke
    if woke and days == 4:
        assert notes[0].startswith("This was yesterday")

"""A session that ends while its worker is killed, in a whole Kith."""

from datetime import timedelta

import pytest
from django.db.models import F

from companions.models import Closing, Session
from config.celery import app
from jobs.lease import LEASE_TIME
from memory.models import DiaryEntry, Learning
from tests.processes.house import House, eventually, kill
from tests.processes.person import Person

pytestmark = pytest.mark.processes


def sweep(house: House) -> None:
    """Send what beat sends each minute."""
    with app.connection_for_write(house.services.redis_url) as connection:
        app.send_task("companions.sessions.tasks.close_waiting", queue="learn", connection=connection)


def asked(house: House) -> int:
    """How often the model was asked for the diary of a session."""
    return sum("Task: diary" in str(one["messages"][0]["content"]) for one in house.rehearsal.requests())


def test_a_worker_killed_while_the_model_is_asked_leaves_one_diary_entry_and_loses_nothing(
    house: House, alice: Person
) -> None:
    with alice.socket(0) as socket:
        for number, text in enumerate(("My sister Ana moved to Lisbon.", "I like green tea.")):
            socket.say(text, f"{number}")
            socket.ending(socket.saved(f"{number}")["reply"]["id"])
    house.rehearsal.script({"task": "diary", "pieces": ["{", '"summary": '], "delay_between": 300.0})
    job = alice.api().post(f"{alice.path}/close").json()["job"]
    eventually(lambda: asked(house) == 1, 60)
    kill(house.worker)
    address = f"{alice.path}/jobs/{job['id']}"
    assert alice.api().get(address).json()["job"]["state"] == "running"
    mine = {"companion_id": alice.companion_id}
    assert house.rows(DiaryEntry).filter(**mine).count() == 0

    with house.redis() as client:
        client.delete("learn")
    house.start()
    sweep(house)
    closings = house.rows(Closing).filter(companion_id=alice.companion_id)
    assert closings.get().state == "waiting"  # whoever was killed may still be at it
    closings.update(next_at=F("next_at") - LEASE_TIME - timedelta(seconds=1))
    sweep(house)
    sweep(house)
    eventually(lambda: alice.api().get(address).json()["job"]["state"] == "done", 60)

    assert house.rows(DiaryEntry).filter(**mine).count() == 1
    assert house.rows(Learning).filter(**mine).count() == 1
    assert house.rows(Session).filter(**mine, ended_at=None).count() == 0
    assert all(message.is_learnt for message in house.messages(alice))
    assert [one["text"] for one in alice.api().get(f"{alice.path}/diary").json()["items"][0]["sentences"]]
    assert asked(house) == 2

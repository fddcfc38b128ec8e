"""Work in the background that is cut off, or whose nudges are lost, is found again from its rows."""

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from django.db.models import Count

from config.celery import app
from memory.models import Embedding, Memory
from tests.processes.house import House, eventually, kill
from tests.processes.person import Person

pytestmark = pytest.mark.processes
BEGAN = datetime(2024, 3, 1, 9, tzinfo=UTC)


def log(length: int) -> dict[str, object]:
    """A log of earlier talk; each fiftieth line is longer than one window."""
    long = " and we talked about the harbour, the weather and the boats" * 40
    return {
        "messages": [
            {
                "client_id": f"line {number}",
                "role": ("user", "assistant")[number % 2],
                "text": f"Line {number} of our talk{long if number % 50 == 0 else ''}.",
                "at": (BEGAN + timedelta(minutes=number)).isoformat(),
            }
            for number in range(length)
        ]
    }


def imported(alice: Person, length: int) -> str:
    """The address of the job that takes in a log."""
    answer = alice.api().post(f"{alice.path}/import/log", json=log(length))
    assert answer.status_code == 202, answer.text
    return f"{alice.path}/jobs/{answer.json()['job']['id']}"


def embedded(house: House, alice: Person) -> int:
    return house.rows(Embedding).filter(companion_id=alice.companion_id, window=0).count()


def assert_each_embedded_once(house: House, alice: Person, length: int) -> None:
    memories = house.rows(Memory).filter(companion_id=alice.companion_id)
    assert memories.count() == length
    windows = memories.annotate(
        windows=Count("embeddings"), numbers=Count("embeddings__window", distinct=True)
    )
    for memory in windows:
        assert memory.windows == memory.numbers
        assert (memory.windows > 1) == (len(memory.text) > 1000)


def sweep(house: House) -> None:
    """Send what beat sends each minute."""
    with app.connection_for_write(house.services.redis_url) as connection:
        app.send_task("memory.tasks.embed_waiting", queue="embed", connection=connection)


def test_a_worker_killed_in_mid_embedding_and_an_emptied_queue_leave_nothing_undone_and_nothing_twice(
    house: House, alice: Person, bob: Person
) -> None:
    job = imported(alice, 110)
    eventually(lambda: embedded(house, alice), 60)
    kill(house.worker)
    halfway = alice.api().get(job).json()["job"]
    assert (halfway["state"], halfway["total"]) == ("running", 110)
    assert 0 < halfway["done"] == embedded(house, alice) < 110

    later = imported(bob, 20)
    with house.redis() as client:
        eventually(lambda: client.llen("embed") > 0)
        client.flushall()
    house.start()
    eventually(lambda: house.health()["checks"]["worker"] == "ok", 60)
    assert embedded(house, bob) == 0

    sweep(house)
    sweep(house)
    for person, address, length in ((alice, job, 110), (bob, later, 20)):
        done = partial(lambda person, address: person.api().get(address).json()["job"], person, address)
        eventually(lambda done=done: done()["state"] == "done", 60)
        assert done()["done"] == length
        assert_each_embedded_once(house, person, length)
    found = (
        alice.api()
        .post(f"{alice.path}/recall", json={"cue": "line 109 of our talk", "limit": 3})
        .json()["results"]
    )
    assert "line 109" in [source["client_id"] for one in found for source in one["sources"]]

"""A provider that operators choose is asked by web processes and workers within five seconds; beat asks no model."""

import time

import pytest

from providers.models import Provider
from providers.selection import FRESH_SECONDS
from tests.fixtures.rehearsal import RehearsalServer
from tests.processes.house import House, eventually
from tests.processes.person import Person

pytestmark = pytest.mark.processes


def test_a_change_is_followed_by_every_process_within_five_seconds(house: House, alice: Person) -> None:
    with RehearsalServer() as other, alice.socket(0) as here, alice.socket(1) as there:
        for number, socket in enumerate((here, there)):
            socket.say("I like green tea.", f"before {number}")
            socket.ending(socket.saved(f"before {number}")["reply"]["id"])
        # It waits for no pause of the talk.
        house.rows(Provider).create(name="New", base_url=other.url, model="new", slots=0)
        try:
            time.sleep(5)
            house.rehearsal.reset()
            for number, socket in enumerate((here, there)):
                socket.say("My sister Ana moved to Lisbon.", f"after {number}")
                socket.ending(socket.saved(f"after {number}")["reply"]["id"])
            assert alice.api().post(f"{alice.path}/close").status_code == 202
            # Talks offer tools, what the worker asks at a session's end does not.
            eventually(lambda: any(not request.get("tools") for request in other.requests()), 60)
            assert sum(bool(request.get("tools")) for request in other.requests()) == 2
            assert house.rehearsal.requests() == []
        finally:
            house.rows(Provider).all().delete()
            time.sleep(FRESH_SECONDS + 0.5)  # for the tests after this one

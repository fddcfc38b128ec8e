import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from tests.fixtures.loops import no_running_loop
from tests.processes.house import ALIAS, House
from tests.processes.person import Person


@pytest.fixture(scope="package")
def whole_house(django_db_blocker: Any) -> Iterator[House]:
    """A house for these tests alone: idle, it would take a twentieth of a processor until the end of the test run.

    Not in pytest's own folders, which are shut to the user as whom Postgres runs where we are root.
    """
    with tempfile.TemporaryDirectory(prefix="kith-") as folder, django_db_blocker.unblock():
        house = House(Path(folder).resolve())
        try:
            house.prepare()
            yield house
        finally:
            with no_running_loop():  # the process's last test may be a browser's
                house.stop()
            del connections[ALIAS], connections.settings[ALIAS]  # a later house has another port


@pytest.fixture
def house(whole_house: House) -> Iterator[House]:
    """The house with everything running, the model's script empty."""
    whole_house.start()
    whole_house.rehearsal.reset()
    yield whole_house
    connections[ALIAS].close()


@pytest.fixture
def alice(house: House) -> Person:
    return house.person()


@pytest.fixture
def bob(house: House) -> Person:
    return house.person()

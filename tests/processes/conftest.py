from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connections

from tests.processes.house import ALIAS, House
from tests.processes.person import Person


@pytest.fixture(scope="session")
def whole_house(tmp_path_factory: pytest.TempPathFactory, django_db_blocker: Any) -> Iterator[House]:
    house = House(tmp_path_factory.mktemp("house"))
    with django_db_blocker.unblock():
        try:
            house.prepare()
            yield house
        finally:
            house.stop()
            del connections.settings[ALIAS]


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

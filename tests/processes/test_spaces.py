"""All is embedded again by another model, in vectors of another width, while people go on asking."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from memory.models import Embedding
from providers.rehearsal.server import embed
from tests.processes.house import ROOT, House, eventually, kill
from tests.processes.person import Person
from tests.processes.test_worker_killed import imported, sweep

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]  # processes are started more than once

LINES = 320
CUE = "line 309 of our talk"
ANSWER = "Line 309 of our talk."
WIDE = 3072


def restart(house: House, **settings: str) -> None:
    """Everything but the stores ends, and starts again with these settings."""
    for child in (*house.webs, house.worker):
        if child.is_running():
            kill(child)
        child.program = child.program.within(ROOT, {**house.environment(), **settings})
    house.start()


@pytest.fixture
def wide(house: House) -> Iterator[dict[str, str]]:
    """The settings that want the rehearsal model's embeddings, 3,072 wide; afterwards the house is as it was."""
    yield {
        "EMBEDDING_BASE_URL": house.rehearsal.url,
        "EMBEDDING_MODEL": "rehearsal-embedding",
        "EMBEDDING_QUERY_FIELDS": f'{{"dimensions": {WIDE}}}',
        "EMBEDDING_DOCUMENT_FIELDS": f'{{"dimensions": {WIDE}}}',
    }
    restart(house, EMBEDDING_BASE_URL="", EMBEDDING_QUERY_FIELDS="", EMBEDDING_DOCUMENT_FIELDS="")


def likeness(alice: Person, number: int) -> float:
    """How like the cue its answer is, as recall says; the answer must be the first thing found."""
    response = alice.api(number).post(f"{alice.path}/recall", json={"cue": CUE, "limit": 3})
    assert response.status_code == 200, response.text
    first = response.json()["results"][0]
    assert first["text"] == ANSWER
    return float(first["reasons"]["likeness"])


@contextmanager
def asking(alice: Person) -> Iterator[list[Any]]:
    """Asks both web processes over and over; the likenesses that came, or what went wrong."""
    came: list[Any] = []
    is_over = threading.Event()

    def ask() -> None:
        while not is_over.wait(0.25):
            try:
                came.append(likeness(alice, len(came) % 2))
            except Exception as error:  # noqa: BLE001 (the thread's failure is the test's)
                came.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield came
    finally:
        is_over.set()
        thread.join()


def embedded(house: House, alice: Person, width: int) -> int:
    mine = house.rows(Embedding).filter(companion_id=alice.companion_id, space__width=width)
    return mine.values("memory").distinct().count()


def test_recall_answers_while_all_is_embedded_again_though_that_is_killed_twice(
    house: House, alice: Person, wide: dict[str, str]
) -> None:
    job = imported(alice, LINES)
    eventually(lambda: alice.api().get(job).json()["job"]["state"] == "done", 120)
    before = likeness(alice, 0)
    after = sum(one * other for one, other in zip(embed(CUE, WIDE), embed(ANSWER, WIDE), strict=True))
    assert before != pytest.approx(after, abs=0.01)

    restart(house, **wide)
    with asking(alice) as came:
        done = 0
        for _ in range(2):
            sweep(house)
            eventually(lambda done=done: embedded(house, alice, WIDE) > done, 60)
            kill(house.worker)
            done = embedded(house, alice, WIDE)
            assert 0 < done < LINES
            asked = len(came)
            eventually(lambda asked=asked: len(came) > asked + 2)
            assert came[-1] == pytest.approx(before, abs=1e-3)
            house.start()
        sweep(house)
        eventually(lambda: embedded(house, alice, WIDE) == LINES, 120)
        eventually(lambda: came[-1] == pytest.approx(after, abs=1e-3))
    assert [one for one in came if isinstance(one, Exception)] == []
    told = [min((before, after), key=lambda known, one=one: abs(known - one)) for one in came]
    assert told == sorted(
        told, key=[before, after].index
    )  # once in the new space, never in the old one again
    assert embedded(house, alice, 384) == LINES
    assert likeness(alice, 1) == pytest.approx(after, abs=1e-3)

"""All is embedded again by another model, in vectors of another width, while people go on asking."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from aiohttp import web

from memory.models import Embedding
from providers.models import Provider
from providers.rehearsal.server import embed
from providers.selection import FRESH_SECONDS
from tests.fixtures.model_servers import serve
from tests.processes.house import ALIAS, House, eventually, kill
from tests.processes.person import Person
from tests.processes.test_worker_killed import imported, sweep

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600)]  # the worker is started more than once

LINES = 200
CUE = "line 189 of our talk"
ANSWER = "Line 189 of our talk."
WIDE = 3072
BATCH_SECONDS = 0.2  # slow enough for a kill to come between two batches


async def embed_slowly(request: web.Request) -> web.Response:
    """Answer with vectors 3,072 wide; many texts at once take long."""
    texts = (await request.json())["input"]
    if len(texts) > 1:
        await asyncio.sleep(BATCH_SECONDS)
    vectors = [{"index": number, "embedding": embed(text, WIDE)} for number, text in enumerate(texts)]
    return web.json_response({"data": vectors})


@pytest.fixture
def wide(house: House) -> Iterator[Provider]:
    """A provider of other embeddings, not saved yet; afterwards the house is as it was."""
    with serve({"/embeddings": embed_slowly}) as url:
        yield Provider(name="Wide", capability="embedding", base_url=url, model="wide", slots=0)
        house.rows(Provider).all().delete()
        time.sleep(FRESH_SECONDS + 0.5)  # for the tests after this one


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
        while not is_over.wait(0.5):
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
    house: House, alice: Person, wide: Provider
) -> None:
    job = imported(alice, LINES)
    eventually(lambda: alice.api().get(job).json()["job"]["state"] == "done", 120)
    before = likeness(alice, 0)
    after = sum(one * other for one, other in zip(embed(CUE, WIDE), embed(ANSWER, WIDE), strict=True))
    assert before != pytest.approx(after, abs=0.01)

    wide.save(using=ALIAS)
    time.sleep(FRESH_SECONDS + 0.5)  # by then every process follows
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
    # Once in the new space, never in the old one again.
    assert told == sorted(told, key=[before, after].index)
    assert embedded(house, alice, 384) == LINES
    assert likeness(alice, 1) == pytest.approx(after, abs=1e-3)

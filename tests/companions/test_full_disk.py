"""A disk that fills up during a turn: the person is told at once, and what was said is saved once there is room."""

import asyncio
from collections.abc import Iterator

import pytest
from django.db import connection

from accounts.models import ModelCall, User
from companions.models import Companion, Reply
from jobs.background import in_thread
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.rest import Api
from tests.fixtures.turns import Socket, connected

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("web", "room_at_last")]
FULL = "The disk of this Kith is full"
ENDINGS = ("error", "reply.done", "reply.failed")
FILL = """
CREATE FUNCTION fill_disk() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER fills BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION fill_disk()
"""


def fill_disk(event: str, table: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(FILL.format(event=event, table=table))


def free_disk() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP FUNCTION IF EXISTS fill_disk CASCADE")


@pytest.fixture
def room_at_last(transactional_db: None) -> Iterator[None]:
    yield
    free_disk()


async def ask(socket: Socket) -> dict:
    await socket.send("message.send", text="I am home.", client_id="one")
    return (await socket.until(*ENDINGS))[-1]


async def test_a_reply_that_could_not_begin_fails_at_once(alice: User, mira: Companion) -> None:
    await in_thread(fill_disk, "INSERT", ModelCall._meta.db_table)
    async with connected(alice, mira) as socket:
        ending = await ask(socket)
    assert (ending["type"], ending["code"]) == ("reply.failed", "disk_full")
    assert ending["detail"].startswith(FULL)


async def test_a_finished_answer_is_saved_once_there_is_room(
    alice: User, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"pieces": ["Good evening."]})
    await in_thread(fill_disk, "UPDATE OF ended_at", Reply._meta.db_table)
    async with connected(alice, mira) as socket:
        told = await ask(socket)
        await in_thread(free_disk)
        done = (await socket.until("reply.done", "reply.failed"))[-1]
    assert (told["type"], told["code"]) == ("error", "database_away")
    assert told["detail"].startswith(FULL)
    assert (done["type"], done["message"]["text"]) == ("reply.done", "Good evening.")


async def test_an_event_stream_tells_that_a_finished_answer_waits_for_room(
    as_alice: Api, mira: Companion
) -> None:
    await in_thread(fill_disk, "UPDATE OF ended_at", Reply._meta.db_table)
    path = f"/companions/{mira.pk}/messages"
    response = await as_alice.apost(path, {"text": "I am home."}, Accept="text/event-stream")
    told = []
    async with asyncio.timeout(20):
        async for event in response.streaming_content:
            told.append(event.decode().split("\n")[0].removeprefix("event: "))
            if told[-1] == "error":
                assert '"code":"database_away"' in event.decode()
                await in_thread(free_disk)
    assert told[-2:] == ["error", "reply.done"]

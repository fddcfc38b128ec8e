"""A provider's key is in no table, no log, no trace, no export and nowhere in Redis, also where its server repeats it."""

import logging
import sys
from functools import partial
from typing import Any

import pytest
from django.conf import settings as kith
from django.db import connection
from django.utils import timezone
from pydantic import BaseModel
from redis import Redis

from accounts.limits.usage import Payer, charged
from accounts.models import ModelCall, User
from companions.models import Companion
from companions.transfer.json_export import export_json
from config.logs import stack
from jobs.background import in_thread
from providers.chat.structured import ask
from providers.errors import ProviderError
from providers.selection import choose_chat
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.turns import connected

KEY = "quokka-key-4711-zebra"
ECHO = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "bad"}}


class Nothing(BaseModel):
    pass


def read_tables() -> str:
    """All rows of all tables as text, bytes in them as hexadecimal digits."""
    rows = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT whole::text FROM "{table}" whole')
            rows += [text for (text,) in cursor.fetchall()]
    return "\n".join(rows)


def read_redis() -> str:
    readers: dict[str, Any] = {
        "string": lambda client, key: client.get(key),
        "hash": lambda client, key: client.hgetall(key),
        "stream": lambda client, key: client.xrange(key),
        "list": lambda client, key: client.lrange(key, 0, -1),
        "zset": lambda client, key: client.zrange(key, 0, -1),
        "set": lambda client, key: client.smembers(key),
    }
    with Redis.from_url(kith.REDIS_URL) as client:
        found = [(key, client.type(key).decode()) for key in client.scan_iter("*")]
        return "\n".join(str((key, readers[kind](client, key))) for key, kind in found if kind in readers)


def fail_beside_the_talk(companion: Companion) -> str:
    """What a log would hold of the failure."""
    try:
        with charged(Payer(companion.user_id, companion.pk), ModelCall.Purpose.LEARNING):
            ask("facts", [{"role": "user", "content": "Hello"}], Nothing)
    except ProviderError:
        kind, error, trace = sys.exc_info()
        assert kind is not None
        assert error is not None
        return stack((kind, error, trace)) + str(error)
    raise AssertionError("It did not fail")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("web")
async def test_a_key_stays_where_it_was_entered(
    alice: User, mira: Companion, rehearsal: RehearsalServer, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    settings.CHAT_IS_FOUND, settings.CHAT_RETRIES = True, 0
    await in_thread(partial(choose_chat, "Mine", rehearsal.url, "rehearsal", api_key=KEY))
    rehearsal.script(
        {"error": {"status": 401, "body": ECHO}},
        {"events": [{"error": {"message": f"You sent {KEY}", "code": 500}}]},
        {"task": "any", "error": {"status": 500, "body": f"Bearer {KEY}"}},
    )
    async with connected(alice, mira) as socket:
        frames = []
        for number in range(2):
            await socket.send("message.send", text="Who are you?", client_id=str(number))
            frames += await socket.until("reply.failed", seconds=20)
    told = await in_thread(fail_beside_the_talk, mira)
    assert await in_thread(ModelCall.objects.exclude(said="").count) == 2
    exported = b"".join([part async for part in export_json(mira, timezone.now())]).decode()
    places = {
        "tables": await in_thread(read_tables),
        "redis": await in_thread(read_redis),
        "logs": caplog.text,
        "error": told,
        "frames": str(frames),
        "export": exported,
    }
    assert "Incorrect API key provided" in places["tables"]  # what the server said is there, without the key
    assert [place for place, text in places.items() if KEY in text or KEY.encode().hex() in text] == []

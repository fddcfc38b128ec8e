"""The socket of one person: unread counts, notices, and who may listen."""

from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.utils import timezone

from accounts.models import Token, User
from companions.events import hub
from companions.life.outreach import mark_read
from companions.models import Companion
from companions.replies.lifecycle import start
from companions.sockets.consumers import MeConsumer
from config.asgi import application
from jobs.background import in_thread
from safety.models import ContinuousUse
from tests.companions.life.test_notifications_api import wrote
from tests.companions.life.waking import ran, woken
from tests.fixtures.turns import Wire, connected

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("web")]


async def listening(user: User) -> Wire:
    headers = [
        (b"host", b"127.0.0.1:8000"),
        (b"authorization", f"Bearer {await in_thread(token, user)}".encode()),
    ]
    wire = Wire(application, "/ws/me/", headers=headers)
    assert (await wire.connect(timeout=30))[0]
    return wire


def token(user: User) -> str:
    return Token.objects.issue(user, "test")[1]


async def heard(wire: Wire, kind: str) -> dict[str, Any]:
    """The next frame of that type."""
    while True:
        frame = orjson.loads((await wire.receive_output(timeout=20))["text"])
        if frame["type"] == kind:
            return dict(frame)


async def test_who_is_not_signed_in_hears_nothing() -> None:
    wire = Wire(application, "/ws/me/", headers=[(b"host", b"127.0.0.1:8000")])
    assert (await wire.connect(timeout=30))[0]
    assert (await wire.receive_output(timeout=30))["code"] == 4401


async def test_an_answer_is_counted_until_it_is_read_and_nobody_else_hears(
    alice: User, mallory: User, mira: Companion
) -> None:
    hers, anothers = await listening(alice), await listening(mallory)
    assert await heard(hers, "unread") == {"type": "unread", "total": 0, "companions": {}}
    assert (await heard(anothers, "unread"))["total"] == 0
    async with connected(alice, mira) as talk:
        await talk.send("message.send", text="Hello", client_id="1")
        await talk.until("reply.done")
    assert await heard(hers, "unread") == {"type": "unread", "total": 1, "companions": {str(mira.pk): 1}}
    await in_thread(mark_read, mira, timezone.now())
    assert (await heard(hers, "unread"))["total"] == 0
    assert await anothers.receive_nothing(timeout=1)
    await hers.disconnect()
    await anothers.disconnect()


async def test_what_a_companion_says_unprompted_is_told_and_counted(alice: User, mira: Companion) -> None:
    hers = await listening(alice)
    assert (await heard(hers, "unread"))["total"] == 0
    await in_thread(lambda: ran(woken(mira, timezone.now()), timezone.now()))
    told = await heard(hers, "outreach")
    assert told["companion"] == {"id": str(mira.pk), "name": "Mira"}
    assert await heard(hers, "unread") == {"type": "unread", "total": 1, "companions": {str(mira.pk): 1}}
    await hers.disconnect()


async def test_without_redis_what_is_unread_is_looked_for(
    alice: User, mira: Companion, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(MeConsumer, "poll_seconds", lambda _self: 0.05)
    hers = await listening(alice)
    monkeypatch.setattr(hub(), "is_subscribed", False)
    assert (await heard(hers, "unread"))["total"] == 0
    await in_thread(wrote, mira, "Are you well?")
    while (await heard(hers, "unread"))["total"] == 0:
        pass
    await hers.disconnect()


async def test_notices_come_at_once_and_again_until_they_are_seen(alice: User, mira: Companion) -> None:
    began = timezone.now() - timedelta(hours=3)
    today = timezone.now().astimezone(alice.zone).date()
    last = timezone.now() - timedelta(minutes=5)
    given = {"begun_at": began, "last_at": last, "ai_told_on": today}
    await in_thread(lambda: ContinuousUse.objects.create(user=alice, **given))
    hers = await listening(alice)
    async with connected(alice, mira) as talk:
        await talk.send("message.send", text="Hello", client_id="1")
        await talk.until("reply.done")
    notice = await heard(hers, "notice")
    assert (notice["kind"], "3 hours" in notice["text"]) == ("break", True)
    await in_thread(User.objects.filter(pk=alice.pk).update, language="zh-hans")
    await in_thread(mira.user.refresh_from_db)
    await in_thread(start, mira, "I want to die.", "2", timezone.now())
    crisis = await heard(hers, "notice")
    assert (crisis["kind"], "findahelpline.com" in crisis["text"]) == ("crisis", True)
    assert "求助热线" in crisis["text"]  # in her language
    await hers.disconnect()
    later = await listening(alice)
    assert (await heard(later, "notice"))["id"] == notice["id"]
    await later.disconnect()


async def test_whoever_sends_too_much_is_cut_off(alice: User) -> None:
    wire = await listening(alice)
    for _n in range(70):
        await wire.send_to(text_data="{}")
    codes = [(await wire.receive_output(timeout=30)).get("code") for _n in range(2)]
    assert codes[-1] == 4429

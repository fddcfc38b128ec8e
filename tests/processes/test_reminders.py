"""A reminder that is asked for in talk, in a whole Kith: into the talk, to every page, and to a closed browser."""

import json
import time

import pytest
from websockets.sync.client import connect

from companions.models import Delivery, Message, Timer, Waking
from config.celery import app
from tests.fixtures.push_service import Browser
from tests.processes.house import House, eventually
from tests.processes.person import Person

pytestmark = pytest.mark.processes


def beat(house: House, task: str) -> None:
    """Send what beat sends."""
    with app.connection_for_write(house.services.redis_url) as connection:
        app.send_task(f"companions.life.tasks.{task}", queue="life", connection=connection)


def test_remind_me_comes_as_a_message_as_a_badge_and_as_a_push(house: House, alice: Person) -> None:
    laptop = Browser(house.push.url)
    assert alice.api().post("push/subscriptions", json=laptop.as_json()).status_code == 201
    me = connect(f"{alice.urls[1].replace('http', 'ws')}/ws/me/", additional_headers=alice.headers)
    with me as page, alice.socket(0) as talk:
        talk.say("Remind me in 3s to drink water", "1")
        talk.ending(talk.saved("1")["reply"]["id"])
        assert house.rows(Timer).get(companion_id=alice.companion_id, schedule="3s").is_asked_for
        said = eventually(
            lambda: next((one for one in talk.frames if one["type"] == "message.said"), None), 60
        )
        assert "drink water" in said["message"]["text"]
        until = time.monotonic() + 20
        told: dict[str, dict[str, object]] = {}
        while not {"outreach", "unread"} <= told.keys() or not told["unread"]["total"]:
            told |= {
                frame["type"]: frame for frame in [json.loads(page.recv(timeout=until - time.monotonic()))]
            }
    assert told["outreach"]["message"] == {
        name: said["message"][name] for name in ("id", "role", "text", "said_at")
    }

    def pushed() -> bool:
        beat(house, "send_deliveries")
        time.sleep(0.5)
        return bool(house.push.received)

    eventually(pushed, 60)
    notification = laptop.reads(house.push.received[0])
    assert notification["body"] == said["message"]["text"]
    mine = {"companion_id": alice.companion_id}
    assert house.rows(Waking).get(timer__schedule="3s", **mine).outcome == "spoke"
    assert house.rows(Message).filter(**mine, waking__isnull=False).count() == 1
    eventually(lambda: house.rows(Delivery).get(**mine, channel="push").state == "sent")
    beat(house, "send_deliveries")
    beat(house, "tick")
    time.sleep(3)
    assert len(house.push.received) == 1

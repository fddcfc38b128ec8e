"""How much one person can pile up: always an end, and a clear word there."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.errors import GateError
from accounts.models import User
from companions.models import Companion, Message, Reply
from companions.replies.actions import retry
from companions.replies.lifecycle import start
from tests.fixtures.rest import Api, problem

pytestmark = pytest.mark.django_db
NAMED = {"name": "Mira", "tint": 40}


def test_retries_count_as_messages_do(mira: Companion, settings: Any) -> None:
    settings.MESSAGES_PER_MINUTE = 3
    now = timezone.now()
    reply = start(mira, "Hello", None, now).reply
    for _ in range(2):
        Reply.objects.update(state=Reply.State.STOPPED)
        retry(reply, now)
    Reply.objects.update(state=Reply.State.STOPPED)
    with pytest.raises(GateError) as caught:
        retry(reply, now)
    assert "Wait a minute" in str(caught.value.detail)
    retry(reply, now + timedelta(minutes=2))


def test_only_so_many_messages_wait_for_one_companion(as_alice: Api, mira: Companion, settings: Any) -> None:
    settings.REPLIES_WAITING = 3
    for _ in range(3):
        start(mira, "Hello", None, timezone.now())
    with pytest.raises(GateError) as caught:
        start(mira, "And this?", None, timezone.now())
    assert (caught.value.code, caught.value.detail[:10]) == ("too_many_waiting", "Mira still")
    assert Message.objects.count() == 3


def test_a_person_has_only_so_many_companions(
    as_alice: Api, alice: User, client: Client, settings: Any
) -> None:
    settings.COMPANIONS_EACH = 2
    assert [as_alice.post("/companions", NAMED).status_code for _ in range(2)] == [201, 201]
    problem(as_alice.post("/companions", NAMED), 409, "too_many_companions")
    client.force_login(alice)
    for path, asked in (("/companions/new/own/", NAMED), ("/companions/new/", {"character": "wren"})):
        page = client.post(path, asked)
        assert page.status_code == 422
        assert "You already have 2 companions" in page.content.decode()
    assert Companion.objects.count() == 2


def test_a_companion_takes_in_only_so_much(as_alice: Api, mira: Companion, settings: Any) -> None:
    settings.MESSAGES_EACH = 2
    lines = [{"role": "user", "text": f"{n}", "at": f"2024-01-0{n}T10:00:00Z"} for n in (1, 2, 3)]
    path = f"/companions/{mira.pk}/import/log"
    problem(as_alice.post(path, {"messages": lines}), 409, "too_many_messages")
    assert as_alice.post(path, {"messages": lines[:2]}).status_code == 202
    problem(as_alice.post(path, {"messages": lines[2:]}), 409, "too_many_messages")
    assert Message.objects.count() == 2

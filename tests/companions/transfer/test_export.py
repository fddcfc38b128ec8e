"""Everything of a companion is in the file, nothing of another's, and no secret."""

import json
from typing import Any

import pytest
from django.apps import apps
from django.db import models
from django.test import AsyncClient

from accounts.models import User
from companions.life.timers import timers
from companions.models import Companion, Delivery, Message, Waking
from companions.transfer.json_export import BATCH, EXPORTED, NOT_EXPORTED
from files.contents import store_content
from integrations.push.models import Subscription
from jobs.background import in_thread
from memory.models import Memory
from tests.companions.deletion.conftest import MARKER, NOW, learnt, say
from tests.fixtures.rest import Api

pytestmark = pytest.mark.django_db(transaction=True)


async def exported(user: User, companion: Companion) -> dict[str, Any]:
    headers = (await in_thread(Api, user)).headers
    response = await AsyncClient().get(f"/api/v1/companions/{companion.pk}/export", headers=headers)
    assert response.status_code == 200
    assert "attachment" in response.headers["Content-Disposition"]
    whole: dict[str, Any] = json.loads(b"".join([piece async for piece in response.streaming_content]))
    return whole


def test_every_table_of_a_companion_is_in_it_or_left_out_for_a_reason() -> None:
    ways = {
        model._meta.label
        for model in apps.get_models()
        if any(
            isinstance(one, models.ForeignKey) and one.related_model is Companion
            for one in model._meta.fields
        )
    }
    written = {model._meta.label for model, _way in EXPORTED.values()}
    assert ways - written - NOT_EXPORTED.keys() == set()
    assert written | NOT_EXPORTED.keys() >= {"memory.Recalled", "memory.Memory", "accounts.ModelCall"}


async def test_what_was_said_and_learnt_is_in_it_with_quotes_and_sources(
    alice: User, mira: Companion, tian: Companion
) -> None:
    (message, *_rest) = await in_thread(say, mira, f"I like {MARKER}.", "I see.")
    memory = await in_thread(learnt, mira, "Alice likes it.", [(message, f"I like {MARKER}")])
    await in_thread(say, tian, "His secret.", "I see.")
    whole = await exported(alice, mira)
    assert whole["companion"]["name"] == "Mira"
    assert {one["text"] for one in whole["messages"]} == {f"I like {MARKER}.", "I see."}
    (fact,) = [one for one in whole["memories"] if one["id"] == str(memory.pk)]
    assert fact["sources"] == [str(message.pk)]
    assert fact["quotes"] == [{"message": str(message.pk), "text": f"I like {MARKER}"}]
    assert set(EXPORTED) <= whole.keys()
    assert "His secret." not in json.dumps(whole)
    assert "user_id" not in whole["companion"]


async def test_what_it_lived_is_in_it_without_what_was_sent(alice: User, mira: Companion) -> None:
    def live() -> None:
        given = {"by": "user", "now": NOW, "is_asked_for": True}
        timer = timers.set_timer(mira, "1h", "drink tea", **given)
        (message, *_rest) = say(mira, "Remind me.", "I will.")
        kept = {"timer": timer, "origin": "timer", "due_at": NOW, "created_at": NOW, "thought": "Tea, then."}
        waking = Waking.objects.create(
            companion=mira,
            **kept,
            prompt=[{"content": MARKER}],
            shown=[message.pk],
            steps=[{"name": "think"}],
        )
        Delivery.objects.create(companion=mira, message=message, channel="email", due_at=NOW)
        Subscription.objects.create(
            user=alice, endpoint_digest="digest", sealed=b"sealed-words", created_at=NOW
        )
        Message.objects.filter(pk=message.pk).update(waking=waking)

    await in_thread(live)
    whole = await exported(alice, mira)
    assert "drink tea" in [one["note"] for one in whole["timers"]]
    assert [(one["thought"], one["steps"]) for one in whole["wakings"]] == [
        ("Tea, then.", [{"name": "think"}])
    ]
    assert [one["by"] for one in whole["inner_states"]] == ["seed"]
    assert [one["most_a_day"] for one in whole["life"]] == [2]
    assert [one["channel"] for one in whole["deliveries"]] == ["email"]
    assert MARKER not in json.dumps(whole)
    assert "sealed" not in json.dumps(whole)


async def test_more_than_a_batch_is_in_it_once(alice: User, mira: Companion) -> None:
    def keep_many() -> None:
        given = {"companion": mira, "kind": "fact", "happened_at": NOW, "learnt_at": NOW}
        Memory.objects.bulk_create(Memory(text=f"Fact {number}", **given) for number in range(BATCH + 3))

    await in_thread(keep_many)
    whole = await exported(alice, mira)
    assert {one["id"] for one in whole["memories"]} == {
        str(pk) for pk in await in_thread(lambda: list(Memory.objects.values_list("pk", flat=True)))
    }
    assert len(whole["memories"]) == BATCH + 3


async def test_anothers_companion_cannot_be_exported(alice: User, tian: Companion) -> None:
    headers = (await in_thread(Api, alice)).headers
    response = await AsyncClient().get(f"/api/v1/companions/{tian.pk}/export", headers=headers)
    assert response.status_code == 404


async def test_its_files_are_named_and_not_where_they_lie(alice: User, mira: Companion) -> None:
    """What is in them is given by the file's own address."""
    file = await in_thread(
        store_content, alice, b"sound", "speech", "audio/mpeg", NOW, companion=mira, seconds=1.5
    )
    await in_thread(store_content, alice, b"of nobody", "picture", "image/webp", NOW)
    whole = await exported(alice, mira)
    (told,) = whole["files"]
    assert (told["id"], told["bytes"], told["seconds"]) == (str(file.pk), 5, 1.5)
    assert told["sha256"] == file.sha256
    assert file.key not in json.dumps(whole)

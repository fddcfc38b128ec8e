"""What comparable systems lost, or gave away, is kept here."""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from accounts.models import Token, User
from companions.deletion import delete_companion
from companions.models import Companion
from companions.transfer.json_export import export_json
from jobs.background import in_thread
from memory.core_memory import set_slot, write_block
from memory.models import Block, Memory, Slot
from memory.models.core_memory import By
from memory.recall.recall import recall
from memory.scoring import CHOICES, by_name
from memory.store import keep_fact
from providers.selection import choose_chat
from tests.fixtures.turns import make_companion

NOW = datetime(2024, 3, 4, 18, tzinfo=UTC)
LATER = NOW + timedelta(days=20 * 365)


@pytest.mark.django_db
@pytest.mark.parametrize("policy", [name for name, _words in CHOICES])
def test_forgetting_deletes_nothing_of_ones_own_and_nothing_of_anothers(
    mira: Companion, tian: Companion, policy: str
) -> None:
    for companion in (mira, tian):
        keep_fact(companion.pk, "Ida plays the harp.", NOW, NOW, zone=UTC)
    before = list(Memory.objects.order_by("pk").values())
    for at in (NOW, LATER):
        recall(mira.pk, "Which instrument?", 5, now=at, zone=UTC, policy=by_name(policy))
    assert list(Memory.objects.order_by("pk").values()) == before


@pytest.mark.django_db
def test_what_was_told_twenty_years_ago_still_comes_to_mind(mira: Companion) -> None:
    harp = keep_fact(mira.pk, "Ida plays the harp.", NOW, NOW, zone=UTC)
    [found] = recall(mira.pk, "harp", 5, now=LATER, zone=UTC)
    assert found.memory == harp


@pytest.mark.django_db
def test_a_deleted_companion_takes_no_block_and_no_slot_of_another_along(
    alice: User, mira: Companion
) -> None:
    juno = make_companion(alice, name="Juno")
    for companion in (mira, juno):
        set_slot(companion.pk, "name", "Alice", by=By.USER, now=NOW)
        write_block(companion.pk, "human", "Likes tea.", by=By.USER, now=NOW)
    delete_companion(mira)
    assert Slot.objects.get().companion == juno
    assert Block.objects.get().text == "Likes tea."


@pytest.mark.django_db(transaction=True)
async def test_an_export_holds_no_key_and_no_token(mira: Companion, settings: Any) -> None:
    settings.CHAT = settings.CHAT | {"api_key": "sk-of-the-operator"}
    await in_thread(partial(choose_chat, "Mine", "http://llm.example/v1", "m", api_key="sk-of-a-provider"))
    token, plaintext = await in_thread(Token.objects.issue, mira.user, "test")
    whole = b"".join([piece async for piece in export_json(mira, NOW)]).decode()
    assert "Mira" in whole
    for secret in (plaintext, token.digest, mira.user.password, "sk-of-the-operator", "sk-of-a-provider"):
        assert str(secret) not in whole

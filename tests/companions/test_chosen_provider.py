"""A talk goes to the provider that operators have chosen, from the next message on."""

from functools import partial
from typing import Any

import pytest

from accounts.models import ModelCall, User
from companions.models import Companion, Message
from jobs.background import in_thread
from providers.models import Provider
from providers.selection import choose_chat, follow_change
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.turns import connected


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("web")
async def test_the_next_message_is_answered_by_the_one_chosen_meanwhile(
    alice: User, mira: Companion, rehearsal: RehearsalServer, settings: Any
) -> None:
    settings.CHAT_IS_FOUND = True
    rehearsal.script({"answer": "Found."})
    with RehearsalServer() as other:
        other.script({"answer": "Chosen."})
        async with connected(alice, mira) as socket:
            await socket.send("message.send", text="Who are you?", client_id="1")
            await socket.until("reply.done", seconds=20)
            await in_thread(partial(choose_chat, "Other", other.url, "another", api_key="sk-1"))
            await socket.send("message.send", text="And now?", client_id="2")
            await socket.until("reply.done", seconds=20)
        assert len(other.requests()) == 1

    def load() -> tuple[list[Any], list[Any]]:
        said = (
            Message.objects.filter(role="assistant").order_by("said_at").values_list("text", "is_rehearsed")
        )
        calls = ModelCall.objects.filter(purpose="answer").order_by("pk").values_list("provider", "model")
        return list(said), list(calls)

    said, calls = await in_thread(load)
    assert said == [("Found.", True), ("Chosen.", False)]
    assert calls == [(rehearsal.url, "rehearsal"), (other.url, "another")]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("web")
async def test_a_talk_falls_back_on_the_same_model_alone(
    alice: User, mira: Companion, rehearsal: RehearsalServer, settings: Any
) -> None:
    """The first provider of the model is away: the second answers, and the one of another model is never asked."""
    settings.CHAT_IS_FOUND, settings.CHAT_RETRIES = True, 0
    away = "http://127.0.0.1:9/v1"
    with RehearsalServer() as other:
        await in_thread(partial(choose_chat, "Second", rehearsal.url, "big"))
        await in_thread(partial(choose_chat, "Another model", other.url, "small"))
        await in_thread(partial(choose_chat, "First", away, "big"))
        rehearsal.script({"answer": "Still me."})
        async with connected(alice, mira) as socket:
            await socket.send("message.send", text="Who are you?", client_id="1")
            await socket.until("reply.done", seconds=20)
            await in_thread(Provider.objects.filter(base_url=rehearsal.url).delete)
            await in_thread(follow_change)
            await socket.send("message.send", text="And now?", client_id="2")
            failed = (await socket.until("reply.failed", seconds=20))[-1]
        assert other.requests() == []
    assert failed["code"] == "provider_unavailable"

    def load() -> list[Any]:
        calls = ModelCall.objects.filter(purpose="answer").order_by("pk")
        return list(calls.values_list("provider", "model", "outcome"))

    assert await in_thread(load) == [
        (away, "big", "unavailable"),
        (rehearsal.url, "big", "done"),
        (away, "big", "unavailable"),
    ]
    assert (await in_thread(Provider.objects.get, base_url=away)).last_error == "unreachable"

"""A talk goes to the provider that operators have chosen, from the next message on."""

from functools import partial
from typing import Any

import pytest

from accounts.models import ModelCall, User
from companions.models import Companion, Message
from jobs.background import in_thread
from providers.selection import choose_chat
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

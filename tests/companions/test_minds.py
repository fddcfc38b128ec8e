"""A companion keeps the model with which its talk began: no other answers in its place unless its person allows it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.test import AsyncClient

from accounts.models import ModelCall, User
from companions.minds.choice import find_proposed_model, get_mind
from companions.models import Companion, Message, Mind, Reply
from jobs.background import in_thread
from providers.models import Provider
from providers.selection import choose_chat, follow_change
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.turns import connected

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("web")]
NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


@pytest.fixture
def servers(
    rehearsal: RehearsalServer, other_servers: tuple[RehearsalServer, RehearsalServer], settings: Any
) -> Iterator[tuple[RehearsalServer, RehearsalServer]]:
    """Two servers of two models, of which the operator has chosen the first."""
    settings.CHAT_IS_FOUND = True
    yield other_servers
    follow_change()


async def ask(user: User, companion: Companion, number: int, end: str = "reply.done") -> dict[str, Any]:
    async with connected(user, companion) as socket:
        await socket.send("message.send", text=f"Question {number}?", client_id=str(number))
        return (await socket.until(end, seconds=20))[-1]


def load_mind(companion: Companion) -> Mind:
    return get_mind(Companion.objects.select_related("mind").get(pk=companion.pk))


async def read_talk(user: User, companion: Companion) -> str:
    client = AsyncClient()
    await client.aforce_login(user)
    return (await client.get(f"/companions/{companion.pk}/")).content.decode()


async def post(user: User, companion: Companion, path: str, **fields: str) -> int:
    client = AsyncClient()
    await client.aforce_login(user)
    return int((await client.post(f"/companions/{companion.pk}/{path}", fields)).status_code)


async def test_a_change_of_the_operators_changes_nobody(
    alice: User, mira: Companion, servers: tuple[RehearsalServer, RehearsalServer]
) -> None:
    first, second = servers
    await in_thread(partial(choose_chat, "First", first.url, "quiet", context_tokens=4096))
    await ask(alice, mira, 1)
    kept = await in_thread(load_mind, mira)
    assert (kept.model, bool(kept.prompt_version)) == ("quiet", True)
    await in_thread(partial(choose_chat, "Second", second.url, "loud"))
    await ask(alice, mira, 2)
    assert (len(first.requests()), len(second.requests())) == (2, 0)
    made = await in_thread(
        lambda: list(Reply.objects.order_by().values_list("model", "is_stand_in").distinct())
    )
    assert made == [("quiet", False)]
    assert "Mira will go on speaking through quiet until you decide." in await read_talk(alice, mira)
    await post(alice, mira, "mind/decide/", decision="take", model="loud")
    assert "chosen another model" not in await read_talk(alice, mira)
    await ask(alice, mira, 3)
    assert len(second.requests()) == 1


async def test_while_its_model_is_away_the_talk_waits_or_a_stand_in_says_so(
    alice: User, mira: Companion, servers: tuple[RehearsalServer, RehearsalServer]
) -> None:
    first, second = servers
    await in_thread(partial(choose_chat, "First", first.url, "quiet"))
    await ask(alice, mira, 1)
    await in_thread(partial(choose_chat, "Second", second.url, "loud"))

    def switch_off() -> None:
        Provider.objects.filter(model="quiet").update(is_active=False)
        follow_change()

    await in_thread(switch_off)
    failed = await ask(alice, mira, 2, "reply.failed")
    assert failed["code"] == "model_missing"
    assert second.requests() == []
    assert "quiet, through which Mira speaks, is away right now." in await read_talk(alice, mira)
    choice = {"decision": "stand_in", "model": "loud"}
    async with connected(alice, mira) as socket:
        assert await post(alice, mira, f"replies/{failed['id']}/decide/", **choice) == 201
        answer = (await socket.until("reply.done", seconds=20))[-1]["message"]
    assert (answer["model"], answer["is_stand_in"]) == ("loud", True)
    assert "loud stood in while Mira's own model was away" in await read_talk(alice, mira)
    await ask(alice, mira, 3)
    assert len(second.requests()) == 2

    def load() -> tuple[str, bool, str, bool]:
        reply = (
            Reply.objects.order_by("-created_at")
            .select_related("answer")
            .get(state="done", message__text="Question 3?")
        )
        assert reply.answer
        return reply.model, reply.is_stand_in, load_mind(mira).model, reply.answer.is_rehearsed

    assert await in_thread(load) == ("loud", True, "quiet", False)


async def test_where_its_model_fails_the_person_chooses_who_stands_in(
    alice: User, mira: Companion, servers: tuple[RehearsalServer, RehearsalServer]
) -> None:
    first, second = servers
    await in_thread(partial(choose_chat, "Second", second.url, "loud", context_tokens=4096))  # it reads less
    await in_thread(partial(choose_chat, "First", first.url, "quiet"))
    await ask(alice, mira, 1)
    first.script({"error": {"status": 401}})
    failed = await ask(alice, mira, 2, "reply.failed")
    assert second.requests() == []
    page = await read_talk(alice, mira)
    assert "did not accept this request" in page
    assert "Let another model stand in (now loud)" in page
    first.script({"error": {"status": 400, "body": "I do not like this"}})
    choice = {"decision": "stand_in", "model": "loud"}
    async with connected(alice, mira) as socket:
        assert await post(alice, mira, f"replies/{failed['id']}/decide/", **choice) == 201
        answer = (await socket.until("reply.done", seconds=20))[-1]["message"]
    assert (answer["model"], answer["is_stand_in"]) == ("loud", True)
    assert "Let another model stand in (now loud)" not in await read_talk(alice, mira)
    again = (await ask(alice, mira, 3))["message"]
    assert (again["model"], again["is_stand_in"]) == ("quiet", False)

    def list_calls() -> list[tuple[str, str, str]]:
        calls = ModelCall.objects.filter(purpose="answer").order_by("started_at")
        return list(calls.values_list("model", "provider", "outcome"))

    asked = [("quiet", first.url, "done"), *[("quiet", first.url, "refused")] * 2]
    assert await in_thread(list_calls) == [*asked, ("loud", second.url, "done"), ("quiet", first.url, "done")]


async def test_no_answer_is_by_two_models(
    alice: User, mira: Companion, servers: tuple[RehearsalServer, RehearsalServer]
) -> None:
    first, second = servers
    await in_thread(partial(choose_chat, "Second", second.url, "loud"))
    await in_thread(partial(choose_chat, "First", first.url, "quiet"))
    await ask(alice, mira, 1)
    await in_thread(Mind.objects.filter(companion=mira).update, allows_stand_in=True)
    recall = {"id": "c1", "name": "recall", "arguments": {"words": "bees"}}
    first.script({"tool_calls": [recall]}, {"error": {"status": 401}})
    failed = await ask(alice, mira, 2, "reply.failed")
    assert failed["code"] == "provider_refused"
    first.script({"answer": "One two three four five.", "cut_after": 2})
    await ask(alice, mira, 3, "reply.failed")
    assert second.requests() == []
    await in_thread(partial(choose_chat, "Third", second.url, "third"))
    await in_thread(partial(choose_chat, "Second", second.url, "loud"))
    first.script({"error": {"status": 401}})
    second.script({"answer": "One two three four five.", "cut_after": 2})
    await ask(alice, mira, 4, "reply.failed")
    assert [request["model"] for request in second.requests()] == ["loud"]


async def test_the_rehearsal_model_becomes_nobodys_own(alice: User, mira: Companion) -> None:
    await ask(alice, mira, 1)
    assert await in_thread(
        lambda: (Mind.objects.count(), Message.objects.get(role="assistant").is_rehearsed)
    ) == (0, True)


async def test_who_said_later_is_asked_later_and_who_said_no_is_not_asked_again(
    mira: Companion, servers: tuple[RehearsalServer, RehearsalServer]
) -> None:
    def propose() -> list[str]:
        choose_chat("Second", servers[1].url, "loud")
        found = []
        for fields in (
            {},
            {"asks_again_at": NOW + timedelta(days=1)},
            {"declined_model": "loud"},
            {"declined_model": "other"},
        ):
            mira.mind = Mind(companion=mira, model="quiet", **fields)
            found.append(find_proposed_model(mira, NOW))
        return found

    assert await in_thread(propose) == ["loud", "", "", "loud"]

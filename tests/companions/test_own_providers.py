"""A person's own provider answers their companions that have its model, and nobody else's; none stands in for it."""

import logging
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from pydantic import BaseModel

from accounts.limits.usage import Payer, charged, load_allowance
from accounts.models import ModelCall, User
from companions.errors import MindError
from companions.events import describe_failure
from companions.minds.choice import find_proposed_model, take_model
from companions.minds.editing import change_mind, list_providers
from companions.models import Closing, Companion, Mind, Reply
from companions.replies.context import TurnContext
from companions.replies.lifecycle import claim, start
from companions.replies.preparation import prepare
from companions.sessions import closing
from companions.transfer.json_export import export_json
from config.logs import stack
from jobs.background import in_thread
from jobs.lease import MAX_ATTEMPTS
from providers.chat import structured
from providers.errors import LimitReached, ModelMissing, ProviderError
from providers.models import OwnProvider, Provider
from providers.selection import (
    Capability,
    choose_chat,
    find_own,
    find_providers,
    follow_change,
    follow_own_change,
    get_provider,
    preferring,
)
from tests.companions.sessions.conftest import MORNING, TEA, ask_to_close, say
from tests.companions.test_minds import ask
from tests.fixtures.clock import clock_at
from tests.fixtures.rehearsal import RehearsalServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("web")]
KEY = "sk-of-alice-4711-zebra"


@pytest.fixture
def own(
    rehearsal: RehearsalServer, other_servers: tuple[RehearsalServer, RehearsalServer], settings: Any
) -> Iterator[RehearsalServer]:
    """A server that persons may name; the operator's is another."""
    settings.CHAT_IS_FOUND, settings.OWN_PROVIDERS_EACH, settings.CHAT_RETRIES = True, 3, 0
    server, _ = other_servers
    settings.OWN_PROVIDERS_ALLOWED = {server.url.split("/")[2]}
    yield server
    follow_change()


def add(user: User, base_url: str, model: str = "mine", **fields: Any) -> OwnProvider:
    row = OwnProvider(user=user, name="Mine", base_url=base_url, model=model, **fields)
    row.api_key = KEY
    row.full_clean()
    row.save()
    follow_own_change(user.pk)
    return row


async def test_it_answers_whom_it_is_chosen_for_and_costs_nothing_of_the_days_tokens(
    alice: User, bob: User, mira: Companion, own: RehearsalServer, rehearsal: RehearsalServer
) -> None:
    await in_thread(partial(add, alice, own.url))
    await in_thread(take_model, mira, "mine")
    await in_thread(lambda: User.objects.filter(pk=alice.pk).update(tokens_per_day=0))
    await ask(alice, mira, 1)
    (request,) = own.requests()
    assert request["model"] == "mine"

    def load() -> tuple[Any, ...]:
        call = ModelCall.objects.get(purpose="answer")
        companion = Companion.objects.select_related("mind").get(pk=mira.pk)
        left = load_allowance(alice, timezone.now()).tokens_today
        reply = Reply.objects.get(model="mine", is_stand_in=False)
        proposed = find_proposed_model(companion, timezone.now())
        return call.provider, call.prompt_tokens > 0, left, reply.state, proposed

    assert await in_thread(load) == ("own", True, 0, "done", "")


def test_a_message_that_waited_for_it_is_not_answered_at_the_operators_cost_once_it_is_deleted(
    alice: User, mira: Companion, own: RehearsalServer, rehearsal: RehearsalServer
) -> None:
    row, now = add(alice, own.url), timezone.now()
    choose_chat("The operator's", rehearsal.url, "mine")
    take_model(mira, "mine")
    User.objects.filter(pk=alice.pk).update(tokens_per_day=0)
    reply = start(Companion.objects.get(pk=mira.pk), "Are you there?", None, now).reply
    row.delete()
    follow_own_change(alice.pk)
    taken = claim(reply.pk, now)
    assert taken
    with preferring(taken.companion.preference), pytest.raises(LimitReached) as refused:
        prepare(TurnContext(taken), "Are you there?", None, now)
    assert "Today's allowance" in describe_failure(refused.value.code)
    assert not ModelCall.objects.exists()


async def test_where_it_fails_no_other_is_asked_and_the_operators_row_knows_nothing(
    alice: User, mira: Companion, own: RehearsalServer, rehearsal: RehearsalServer
) -> None:
    row = await in_thread(partial(add, alice, own.url))
    await in_thread(partial(choose_chat, "The operator's", rehearsal.url, "mine"))
    await in_thread(lambda: Provider.objects.filter(model="mine").update(base_url=own.url))
    await in_thread(take_model, mira, "mine")
    await in_thread(lambda: Mind.objects.update(allows_stand_in=True))
    own.script({"error": {"status": 401, "body": {"error": {"message": f"Bad key {KEY} at {own.url}"}}}})
    failed = await ask(alice, mira, 1, "reply.failed")
    assert failed["code"] == "own_model_failed"
    assert len(own.requests()) == 1

    def load() -> tuple[Any, ...]:
        row.refresh_from_db()
        call = ModelCall.objects.get(purpose="answer")
        return row.last_error, call.said, Provider.objects.get().last_error

    assert await in_thread(load) == ("key", "", "")


async def test_anothers_is_never_found(
    alice: User, bob: User, mira: Companion, tian: Companion, own: RehearsalServer, settings: Any
) -> None:
    def look() -> None:
        add(alice, own.url)
        add(bob, own.url, "his")
        take_model(tian, "mine")
        assert tian.user_id == bob.pk
        with preferring(tian.preference):
            assert find_providers(model="mine") == []
            assert get_provider().model != "mine"
            with pytest.raises(ModelMissing):
                get_provider(model="mine")
        assert find_providers(model="mine") == []  # nor where nobody is named
        assert [each.model for each in find_own(bob.pk)] == ["his"]
        assert not any(each.is_own for each in find_providers())
        for companion, model in ((tian, "mine"), (mira, "his")):
            with pytest.raises(MindError):
                change_mind(companion, {"background_model": model})
        assert list_providers(alice.pk, Capability.CHAT)["mine"].is_own
        change_mind(mira, {"model": "mine", "background_model": "mine"})
        with preferring(mira.preference):
            chosen = get_provider()
            assert (chosen.is_own, chosen.user_id, chosen.api_key) == (True, alice.pk, KEY)
            assert get_provider(Capability.BACKGROUND) == chosen
            settings.OWN_PROVIDERS_EACH = 0
            assert find_providers(model="mine") == []

    await in_thread(look)
    failed = await ask(bob, tian, 1, "reply.failed")
    assert failed["code"] == "model_missing"
    assert own.requests() == []


class Nothing(BaseModel):
    pass


def fail_beside_the_talk(companion: Companion) -> str:
    """What a log would hold of the failure."""
    with preferring(companion.preference):
        try:
            with charged(Payer(companion.user_id, companion.pk), ModelCall.Purpose.LEARNING):
                structured.ask("facts", [{"role": "user", "content": "Hello"}], Nothing)
        except ProviderError:
            kind, error, trace = sys.exc_info()
            assert kind
            assert error
            return stack((kind, error, trace)) + str(error)
    raise AssertionError("It did not fail")


def test_beside_the_talk_a_slow_one_is_given_up_however_it_trickles(
    alice: User, mira: Companion, own: RehearsalServer, settings: Any
) -> None:
    settings.OWN_ANSWER_SECONDS = 1.0
    add(alice, own.url)
    change_mind(mira, {"background_model": "mine"})
    own.script({"task": "any", "pieces": ["{"] * 100, "delay_between": 0.2, "repeat": 9})
    assert "did not end within 1 s" in fail_beside_the_talk(mira)
    # Nor is it asked for ever, at its owner's cost.
    say(mira, *TEA, at=MORNING)
    closing_id = ask_to_close(mira, MORNING)
    Closing.objects.update(attempts=MAX_ATTEMPTS - 1, drafts={})
    closing.run(closing_id, clock_at(MORNING))
    assert (Closing.objects.get().state, Closing.objects.get().error) == ("failed", "answer_unfinished")


def read_tables(*, without: str = "") -> str:
    """All rows of all tables as text, bytes in them as hexadecimal digits."""
    rows = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            if table != without:
                cursor.execute(f'SELECT whole::text FROM "{table}" whole')
                rows += [text for (text,) in cursor.fetchall()]
    return "\n".join(rows)


async def test_its_key_is_nowhere_but_sealed_and_its_address_only_with_it(
    alice: User, mira: Companion, own: RehearsalServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await in_thread(partial(add, alice, own.url))
    await in_thread(take_model, mira, "mine")
    await in_thread(lambda: Mind.objects.update(background_model="mine"))
    echo = {"error": {"message": f"Incorrect API key {KEY} at {own.url}"}}
    own.script(
        {"error": {"status": 401, "body": echo}},
        {"events": [{"error": {"message": f"You sent {KEY} to {own.url}", "code": 500}}]},
        {"task": "any", "error": {"status": 500, "body": f"Bearer {KEY}"}},
    )
    frames = [await ask(alice, mira, number, "reply.failed") for number in range(2)]
    companion = await in_thread(Companion.objects.select_related("mind", "user").get, pk=mira.pk)
    told = await in_thread(fail_beside_the_talk, companion)
    assert await in_thread(ModelCall.objects.filter(provider="own").count) == 3
    exported = b"".join([part async for part in export_json(companion, timezone.now())]).decode()
    elsewhere = await in_thread(partial(read_tables, without="providers_ownprovider"))
    places = {
        "tables": await in_thread(read_tables),
        "logs": caplog.text,
        "error": told,
        "frames": str(frames),
        "export": exported,
    }
    assert own.url in places["tables"]
    assert [name for name, text in places.items() if KEY in text or KEY.encode().hex() in text] == []
    assert [name for name in ("frames", "export") if own.url in places[name]] == []
    assert own.url not in elsewhere

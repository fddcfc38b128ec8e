"""Two models answer the same exchanges: side by side, resumable, paid for, and nowhere but in the comparison."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client

from accounts.models import ModelCall, User
from companions.deletion import delete_message
from companions.minds.choice import take_model
from companions.minds.comparison.comparison import run, start_comparison
from companions.models import Companion, Comparison, Message, Mind, Prompt, Reply
from providers.models import Provider
from providers.selection import choose_chat, follow_change
from tests.companions.everywhere import tables_with
from tests.companions.talking import say
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.rest import Api

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("rehearsal")]
NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
MARKER = "Zxqvorn"
Servers = tuple[RehearsalServer, RehearsalServer]


@pytest.fixture
def servers(mira: Companion, other_servers: Servers, settings: Any) -> Iterator[Servers]:
    """Mira speaks with `quiet`; the operator has put `loud` before it."""
    settings.CHAT_IS_FOUND = True
    quiet, loud = other_servers
    choose_chat("Quiet", quiet.url, "quiet", slots=0)
    choose_chat("Loud", loud.url, "loud", slots=0)
    take_model(mira, "quiet")
    yield quiet, loud
    follow_change()


def exchange(companion: Companion, number: int, text: str = "") -> Reply:
    """An exchange that was answered, with the prompt as it was sent."""
    text = text or f"What of the harbour, number {number}?"
    message, answer = say(companion, text, "The boats are in.", at=NOW + timedelta(hours=number))
    reply = Reply.objects.create(
        companion=companion, message=message, answer=answer, state="done", created_at=answer.said_at
    )
    prompt = [{"role": "system", "content": "You are Mira."}, {"role": "user", "content": text}]
    Prompt.objects.create(
        companion=companion, reply=reply, messages=prompt, shown=[message.pk], created_at=answer.said_at
    )
    return reply


def compare(companion: Companion, exchanges: int) -> Comparison:
    comparison = start_comparison(companion, "loud", exchanges, NOW)
    return go_on(comparison)


def go_on(comparison: Comparison, times: int = 40) -> Comparison:
    for hours in range(1, times):
        run(comparison.pk, partial(NOW.__add__, timedelta(hours=hours)))
    comparison.refresh_from_db()
    return comparison


def count_rows() -> dict[str, int]:
    """How many rows each table has, but those that count what was used, name an embedder, or are the comparison's."""
    with connection.cursor() as cursor:
        tables = set(connection.introspection.table_names())
        tables -= {
            "accounts_modelcall",
            "memory_space",
            "companions_comparison",
            "companions_comparedexchange",
        }
        counts = {}
        for table in sorted(tables):
            cursor.execute(f'SELECT count(*) FROM "{table}"')
            counts[table] = int(cursor.fetchone()[0])
    return counts


def test_both_answer_what_was_sent_and_nothing_else_is_written(
    mira: Companion, alice: User, servers: Servers
) -> None:
    replies = [exchange(mira, number) for number in range(3)]
    before = count_rows()
    servers[0].script({"answer": "<emotion happy 0.8> Calm.\nAlice: And then?", "repeat": 2})
    servers[1].script({"answer": "Let us go down to the harbour and look at the boats. " * 12, "repeat": 2})
    comparison = compare(mira, 2)
    assert count_rows() == before
    assert comparison.ended_at
    sent = [[request["messages"] for request in server.requests()] for server in servers]
    assert (
        sent[0]
        == sent[1]
        == [prompt.messages for prompt in Prompt.objects.filter(reply__in=replies[1:]).order_by("created_at")]
    )
    assert not any(request.get("tools") for server in servers for request in server.requests())
    answers = {(row.own_text, row.other_text) for row in comparison.exchanges.all()}
    assert answers == {("Calm.", "Let us go down to the harbour and look at the boats.")}
    calls = ModelCall.objects.filter(user=alice, purpose="comparison")
    assert (calls.count(), all(call.prompt_tokens for call in calls)) == (4, True)
    assert not calls.exclude(sent=None).exists()
    page = Client()
    page.force_login(alice)
    shown = page.get(f"/companions/{mira.pk}/mind/comparison/").content.decode()
    assert "4 of 4 answers" in shown
    assert "2 answers from each are too few to tell a difference from chance" in shown
    assert page.get(f"/companions/{mira.pk}/").content.decode().count("Calm.") == 0


def test_answers_made_again_take_no_other_message_s_place(mira: Companion, servers: Servers) -> None:
    exchange(mira, 1)
    newest = exchange(mira, 2)
    answer, sent = newest.answer, Prompt.objects.get(reply=newest)
    assert answer
    for minutes in range(1, 6):
        at = answer.said_at + timedelta(minutes=minutes)
        answer.pk, newest.pk, sent.pk = uuid4(), uuid4(), None
        answer.said_at = newest.created_at = sent.created_at = at
        newest.answer, sent.reply = answer, newest
        for row in (answer, newest, sent):
            row.save(force_insert=True)
    assert start_comparison(mira, "loud", 2, NOW).exchanges.count() == 2


def test_what_is_answered_is_not_asked_again(mira: Companion, servers: Servers) -> None:
    exchange(mira, 1)
    comparison = start_comparison(mira, "loud", 1, NOW)
    servers[1].script({"error": {"status": 500}, "repeat": 1})
    run(comparison.pk, lambda: NOW)
    comparison.refresh_from_db()
    assert (comparison.error, comparison.ended_at) == ("provider_unavailable", None)
    comparison = go_on(comparison)
    assert (comparison.error, bool(comparison.ended_at)) == ("", True)
    assert len(servers[0].requests()) == 1


def test_a_model_that_stays_away_ends_it_with_a_sentence(
    mira: Companion, alice: User, servers: Servers
) -> None:
    exchange(mira, 1)
    comparison = start_comparison(mira, "loud", 1, NOW)
    Provider.objects.filter(model="loud").update(is_active=False)
    follow_change()
    assert go_on(comparison).ended_at
    told = Api(alice).get(f"/companions/{mira.pk}/comparison").json()
    assert (told["error"], told["report"], len(told["exchanges"])) == ("model_missing", None, 1)
    assert "is not available right now" in told["detail"]


def test_what_is_deleted_from_the_talk_goes_from_it(mira: Companion, servers: Servers) -> None:
    secret, _other = exchange(mira, 1, f"My locker opens with {MARKER}."), exchange(mira, 2)
    servers[1].script({"answer": f"I keep {MARKER} to myself.", "repeat": 2, "when": MARKER})
    comparison = compare(mira, 2)
    assert "companions_comparedexchange" in tables_with(MARKER)
    delete_message(Message.objects.select_related("companion").get(pk=secret.message_id), NOW)
    assert tables_with(MARKER) == {}
    assert comparison.exchanges.count() == 1


def test_it_ends_also_if_all_that_was_to_be_answered_is_deleted_meanwhile(
    mira: Companion, alice: User, servers: Servers
) -> None:
    reply = exchange(mira, 1)
    comparison = start_comparison(mira, "loud", 1, NOW)
    delete_message(Message.objects.select_related("companion").get(pk=reply.message_id), NOW)
    assert go_on(comparison).ended_at
    told = Api(alice).get(f"/companions/{mira.pk}/comparison").json()
    assert (told["report"], told["exchanges"]) == (None, [])
    page = Client()
    page.force_login(alice)
    assert page.get(f"/companions/{mira.pk}/mind/comparison/").status_code == 200


def test_two_scripted_manners_are_told_apart_at_fifty_replies(
    mira: Companion, alice: User, servers: Servers
) -> None:
    for number in range(50):
        exchange(mira, number)
    for number in range(50):
        servers[0].script({"answer": "I see. " * (1 + number % 5)})
        servers[1].script({"answer": "Really? And why is that, Alice? " * (1 + number % 4)})
    report = compare(mira, 50).report
    assert report["answers"] == 50
    assert report["measures"]["questions"]["p"] < 0.01
    assert report["measures"]["name"]["p"] < 0.01
    assert report["measures"]["formal"]["p"] > 0.05
    assert report["meaning"]["p"] < 0.01


def test_it_wants_both_models_and_something_said(mira: Companion, alice: User, servers: Servers) -> None:
    path = f"/companions/{mira.pk}/comparison"
    assert Api(alice).post(path, {"model": "loud"}).json()["code"] == "nothing_to_compare"
    exchange(mira, 1)
    assert Api(alice).post(path, {"model": "nobody"}).json()["code"] == "no_such_model"
    assert Api(alice).post(path, {"model": "loud", "exchanges": 51}).status_code == 422
    assert Api(alice).post(path, {"model": "loud"}).status_code == 202
    assert Api(alice).call("DELETE", path).status_code == 204
    assert Api(alice).get(path).status_code == 404


@pytest.mark.parametrize("model", ["", "nobody", "l" * 201, "lo\0ud"], ids=ascii)
def test_a_model_that_is_none_is_not_declined(
    mira: Companion, alice: User, servers: Servers, model: str
) -> None:
    page, fields = Client(), {"decision": "decline", "model": model}
    page.force_login(alice)
    answer = page.post(f"/companions/{mira.pk}/mind/decide/", fields, follow=True)
    assert "This model is not available right now" in answer.content.decode()
    assert Mind.objects.get(companion=mira).declined_model == ""


def test_the_person_decides_over_the_api(mira: Companion, alice: User, servers: Servers) -> None:
    path = f"/companions/{mira.pk}/model-change"
    state = Api(alice).get(path).json()
    assert (state["model"], state["is_there"], state["proposed"]) == ("quiet", True, "loud")
    assert Api(alice).post(path, {"decision": "later", "model": "loud"}).json()["proposed"] == ""
    assert Api(alice).post(path, {"decision": "take", "model": "nobody"}).json()["code"] == "no_such_model"
    Provider.objects.filter(model="quiet").update(is_active=False)
    follow_change()
    assert (
        Api(alice).post(path, {"decision": "decline", "model": "loud"}).json()["code"] == "own_model_missing"
    )
    assert Api(alice).post(path, {"decision": "take", "model": "loud"}).json()["model"] == "loud"

"""The operators' page of chat providers: what is in force, keys that nobody sees again, and a button that tries one."""

import logging
import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from aiohttp import web
from cryptography.fernet import Fernet
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone
from pydantic import BaseModel

from accounts.limits.usage import Payer, charged
from accounts.models import ModelCall, User
from companions.models import Companion
from providers.chat.structured import ask
from providers.errors import ProviderError
from providers.models import Provider
from providers.selection import choose_chat, follow_change
from safety.models import AuditEntry
from safety.provider_usage import load_last_day, load_last_month
from tests.admin.walk import listing, page
from tests.fixtures.model_servers import serve
from tests.fixtures.rehearsal import RehearsalServer
from tests.memory.conftest import EmbeddingServer, embedding_server

__all__ = ["embedding_server"]

pytestmark = pytest.mark.django_db
KEY = "sk-of-the-operator-4711"
ADD = "/admin/providers/provider/add/"


def fields(server: RehearsalServer, **others: Any) -> dict[str, Any]:
    given = {"name": "Mine", "capability": "chat", "base_url": server.url, "model": "rehearsal"}
    return given | {"order": 0, "is_active": "on", "api_key": KEY} | others


def tried(desk: Client, *rows: Provider) -> str:
    asked = {"action": "try_selected", "_selected_action": [row.pk for row in rows]}
    return desk.post(listing(Provider), asked, follow=True).content.decode()


def test_a_key_is_seen_in_no_page_no_log_and_no_record(
    desk: Client, rehearsal: RehearsalServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    shown = [desk.post(ADD, fields(rehearsal), follow=True)]
    row = Provider.objects.get()
    assert row.api_key == KEY
    echo = {"error": {"message": f"Incorrect API key provided: {KEY}"}}
    rehearsal.script({"error": {"status": 401, "body": echo}}, {"html": True}, {"error": {"status": 500}})
    told = [tried(desk, row) for _ in range(4)]
    shown += [
        desk.get(address) for address in (listing(Provider), page(row), page(row, "history"), "/admin/")
    ]
    shown += [desk.post(page(row), fields(rehearsal, base_url="nowhere"))]
    for text in (*told, *(response.content.decode() for response in shown), caplog.text):
        assert KEY not in text
    assert "ending in 4711" in shown[2].content.decode()
    assert not LogEntry.objects.filter(change_message__contains=KEY).exists()


def test_changes_are_on_record(desk: Client, olive: User, rehearsal: RehearsalServer) -> None:
    desk.post(ADD, fields(rehearsal))
    row = Provider.objects.get()
    desk.post(page(row), fields(rehearsal, api_key="", name="Yours"))
    row.refresh_from_db()
    assert (row.name, row.api_key) == ("Yours", KEY)
    desk.post(page(row), fields(rehearsal, api_key="", removes_key="on"))
    assert Provider.objects.get().api_key == ""
    desk.post(page(row, "delete"), {"post": "yes"})
    deeds = (
        AuditEntry.objects.filter(kind="providers.Provider").order_by("pk").values_list("operator", "deed")
    )
    assert list(deeds) == [*[(olive.pk, "changed")] * 3, (olive.pk, "deleted")]


def test_a_key_does_not_go_to_another_server_unasked(desk: Client, rehearsal: RehearsalServer) -> None:
    desk.post(ADD, fields(rehearsal))
    row = Provider.objects.get()
    moved = fields(rehearsal, base_url="http://elsewhere.example/v1", api_key="")
    assert "leads to another server" in desk.post(page(row), moved).content.decode()
    assert Provider.objects.get().base_url == rehearsal.url
    desk.post(page(row), moved | {"api_key": "another"})
    assert Provider.objects.get().api_key == "another"


def test_a_try_says_a_real_sentence_and_how_soon(desk: Client, rehearsal: RehearsalServer) -> None:
    rehearsal.script({"answer": "Good evening to you.", "delay": 0.3})
    shown = tried(desk, choose_chat("Mine", rehearsal.url, "rehearsal"))
    assert "Mine: “Good evening to you.” The first piece came after 0." in shown


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        ({"error": {"status": 401, "body": "No"}}, "The key was refused."),
        ({"error": {"status": 402, "body": "No"}}, "no credit or quota"),
        (
            {"error": {"status": 429, "body": {"error": {"message": "insufficient_quota"}}}},
            "no credit or quota",
        ),
        ({"error": {"status": 429, "body": "Slow down"}}, "accepts no more requests"),
        (
            {"error": {"status": 404, "body": 'model "x" not found, try pulling it'}},
            "does not know this model",
        ),
        ({"error": {"status": 400, "body": "The model `x` does not exist"}}, "does not know this model"),
        ({"error": {"status": 404, "body": "404 page not found"}}, "Nothing at this address"),
        ({"error": {"status": 500, "body": "Oh"}}, "The server failed."),
        ({"html": True}, "a web page"),
        ({"answer": ""}, "The model gave no answer"),
        ({"hang_after": 0}, "did not answer in time"),
    ],
)
def test_what_failed_is_told_in_a_sentence_and_kept(
    desk: Client, rehearsal: RehearsalServer, step: dict[str, Any], sentence: str
) -> None:
    rehearsal.script(step)
    row = choose_chat("Mine", rehearsal.url, "rehearsal", api_key=KEY)
    assert sentence in tried(desk, row)
    assert sentence in desk.get(listing(Provider)).content.decode()
    tried(desk, row)
    assert Provider.objects.get().last_error == ""


def test_a_server_that_is_not_there_is_told(desk: Client, rehearsal: RehearsalServer) -> None:
    assert "cannot be reached" in tried(desk, choose_chat("Mine", "http://127.0.0.1:9/v1", "m"))


@pytest.mark.parametrize("body", ['{"hello": "world"}', "hello", "[1, 2, 3]", "data: hello\n\n"])
def test_a_server_that_is_none_of_models_is_not_said_to_be_away(desk: Client, body: str) -> None:
    async def answer(_request: web.Request) -> web.Response:
        content_type = "text/event-stream" if body.startswith("data:") else "application/json"
        return web.Response(text=body, content_type=content_type)

    with serve({"/v1/chat/completions": answer}) as address:
        assert "Nothing at this address answers such requests" in tried(
            desk, choose_chat("Mine", f"{address}/v1", "m")
        )


class Nothing(BaseModel):
    pass


def test_a_failed_call_is_noted_without_its_words(
    mira: Companion, rehearsal: RehearsalServer, settings: Any
) -> None:
    settings.CHAT_IS_FOUND = True
    row = choose_chat("Mine", rehearsal.url, "rehearsal")
    follow_change()
    rehearsal.script({"task": "any", "error": {"status": 401, "body": "quokka"}})
    with pytest.raises(ProviderError), charged(Payer(mira.user_id, mira.pk), ModelCall.Purpose.LEARNING):
        ask("facts", [{"role": "user", "content": "Hello"}], Nothing)
    row.refresh_from_db()
    assert row.last_error == "key"
    assert row.last_error_at is not None
    assert row.last_error_at <= timezone.now()


def test_what_is_in_force_is_shown(desk: Client, rehearsal: RehearsalServer, settings: Any) -> None:
    def shown() -> str:
        return (
            desk.get(listing(Provider))
            .content.decode()
            .partition('id="in-force"')[2]
            .partition("</section>")[0]
        )

    choose_chat("Mine", "http://llm.example/v1", "big")
    assert (
        f"The environment sets the chat model: rehearsal at {rehearsal.url}. It takes precedence" in shown()
    )
    settings.CHAT_IS_FOUND = True
    assert "In force: big at http://llm.example/v1." in shown()
    Provider.objects.update(is_active=False)
    assert "the rehearsal model answers" in shown()
    # The theme's word, which it shows as a badge.
    assert not desk.get(listing(Provider)).context["environment"]
    settings.CHAT = settings.CHAT | {"is_rehearsal": False}
    assert f"the model found at startup answers: rehearsal at {rehearsal.url}." in shown()


def test_who_may_only_look_changes_and_tries_nothing(
    desk: Client, olive: User, rehearsal: RehearsalServer
) -> None:
    row = choose_chat("Mine", rehearsal.url, "rehearsal", api_key=KEY)
    olive.is_superuser = False
    olive.save()
    olive.user_permissions.set(Permission.objects.filter(codename="view_provider"))
    assert desk.get(page(row)).status_code == 200
    assert desk.post(page(row), fields(rehearsal, name="Yours")).status_code == 403
    tried(desk, row)
    assert rehearsal.requests() == []
    assert Provider.objects.get().name == "Mine"


def test_the_last_day_is_told_by_hours(
    desk: Client, bob: User, rehearsal: RehearsalServer, django_assert_num_queries: Any
) -> None:
    row = choose_chat("Mine", rehearsal.url, "rehearsal")
    Provider.objects.update(prompt_price=2, completion_price=10)
    row.refresh_from_db()
    now = timezone.now().replace(minute=30)
    for hours, milliseconds, outcome in [
        *((1, 1000, "done"), (1, 2000, "done"), (1, 3000, "stopped"), (1, 90_000, "unavailable")),
        *((2, 500, "done"), (30, 7000, "done")),
    ]:
        ModelCall.objects.create(
            user=bob,
            purpose="answer",
            provider=rehearsal.url,
            model="rehearsal",
            outcome=outcome,
            prompt_tokens=1_000_000,
            completion_tokens=100_000,
            milliseconds=milliseconds,
            started_at=now - timedelta(hours=hours),
        )
    ModelCall.objects.update_or_create(
        user=bob, purpose="answer", provider=rehearsal.url, model="another", started_at=now
    )
    with django_assert_num_queries(1):
        newest, before = load_last_day(row, now)
    assert (newest.requests, newest.failures, newest.tokens, newest.cost) == (4, 1, 4_400_000, 12)
    assert newest.median_seconds == 2.0
    assert newest.slow_seconds == pytest.approx(2.9)
    assert (before.requests, before.failures, before.median_seconds) == (1, 0, 0.5)
    shown = desk.get(page(row)).content.decode().partition('id="last-day"')[2]
    assert "4,400,000" in shown
    assert "12.0000" in shown


def test_what_each_model_cost_in_a_month_is_told_of_all_and_of_a_person(
    desk: Client, bob: User, alice: User
) -> None:
    choose_chat("Mine", "https://llm.example/v1", "large")
    Provider.objects.update(prompt_price=2, completion_price=10)
    now = timezone.now()
    for model, days, outcome in (
        ("large", 1, "done"),
        ("large", 29, "refused"),
        ("large", 31, "done"),
        ("gone", 2, "done"),
    ):
        ModelCall.objects.create(
            **{"user": bob, "purpose": "answer", "provider": "https://llm.example/v1", "model": model},
            **{"outcome": outcome, "prompt_tokens": 1_000_000, "completion_tokens": 100_000},
            started_at=now - timedelta(days=days),
        )
    large, gone = load_last_month(now)
    assert (large.requests, large.failures, large.sent, large.received, large.cost) == (
        2,
        1,
        2_000_000,
        200_000,
        6,
    )
    assert (gone.model, gone.requests, gone.cost) == ("gone", 1, None)
    shown = desk.get(listing(Provider)).content.decode().partition('id="last-month"')[2]
    assert "2,000,000" in shown
    listed = unescape(re.findall(r'href="([^"]*outcome__in[^"]*)"', shown)[0])
    assert [call.outcome for call in desk.get(listed).context["cl"].result_list] == ["refused"]
    assert "6.00" in shown
    assert "6.00" in desk.get(page(bob)).content.decode()
    assert load_last_month(now, alice) == []


@pytest.mark.django_db(transaction=True)
def test_a_key_that_is_lost_is_told_and_nothing_is_asked_without_it(
    desk: Client, rehearsal: RehearsalServer, settings: Any
) -> None:
    settings.CHAT_IS_FOUND = True
    row = choose_chat("Mine", rehearsal.url, "rehearsal", api_key=KEY)
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    choose_chat("Mine", rehearsal.url, "rehearsal")  # the key stays as it is, and this process reads it anew
    for address in (listing(Provider), page(row), "/admin/mind/"):
        assert "encrypted with a different KITH_ENCRYPTION_KEY" in desk.get(address).content.decode()
    assert "The key was refused" in tried(desk, row)
    assert rehearsal.requests() == []


def test_a_provider_of_sound_has_no_limits_that_nobody_would_heed(
    desk: Client, rehearsal: RehearsalServer
) -> None:
    given = fields(rehearsal, capability="speech", tokens_per_day=1000)
    assert "only for chat models" in desk.post(ADD, given).content.decode()
    desk.post(ADD, given | {"tokens_per_day": ""})
    row = Provider.objects.get()
    assert (row.capability, row.tokens_per_day) == ("speech", None)
    assert "Speaking and hearing" in tried(desk, row)
    assert rehearsal.requests() == []


@pytest.mark.parametrize(
    ("capability", "given", "words"),
    [
        ("chat", {"query_prefix": "query: "}, "only for embedding"),
        ("speech", {"document_prefix": "passage: "}, "only for embedding"),
        ("chat", {"context_tokens": 512}, "At least 1024"),
        ("embedding", {"tokens_per_day": 1000}, "only for chat models"),
        ("embedding", {"query_prefix": "x" * 201}, "at most 200 characters"),
    ],
)
def test_what_a_capability_would_not_heed_is_refused(
    desk: Client, rehearsal: RehearsalServer, capability: str, given: dict[str, Any], words: str
) -> None:
    assert words in desk.post(ADD, fields(rehearsal, capability=capability, **given)).content.decode()
    assert not Provider.objects.exists()


def test_a_provider_of_embedding_keeps_its_prefixes_and_embeds_a_sentence_as_a_try(
    desk: Client, embedding_server: EmbeddingServer, settings: Any
) -> None:
    address = str(settings.EMBEDDING["base_url"])
    given = {"name": "Mine", "capability": "embedding", "base_url": address, "model": "m", "api_key": KEY}
    prefixes = {"query_prefix": "query: ", "document_prefix": "passage: "}
    desk.post(ADD, given | prefixes | {"order": 0, "is_active": "on", "context_tokens": 512})
    desk.post(ADD, given | {"order": 1, "is_active": "on"})  # another manner is another provider
    row = Provider.objects.get(order=0)
    assert (row.query_prefix, row.document_prefix, Provider.objects.count()) == ("query: ", "passage: ", 2)
    assert "Mine: 4 numbers for a sentence, after" in tried(desk, row)
    assert embedding_server.asked == ["passage: Greet me in one short sentence."]
    assert f"The environment sets embedding: some-model at {address}" in tried(desk, row)
    embedding_server.refuses_key = True
    assert "The key was refused." in (shown := tried(desk, row))
    assert KEY in embedding_server.keys
    assert KEY not in shown
    row.refresh_from_db()
    assert row.last_error == "key"
    embedding_server.shutdown()
    embedding_server.server_close()
    assert "cannot be reached" in tried(desk, row)

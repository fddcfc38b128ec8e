"""The operators' page "Which model?": what is found, what a try tells, what puts a model in force, and who may."""

import json
import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse

from accounts.models import User
from config.admin.dashboard import describe_health
from providers.discovery.listing import USUAL_PORTS
from providers.discovery.models import Kind
from providers.models import Provider
from providers.selection import choose_chat, get_provider
from safety.models import AuditEntry
from tests.fixtures.model_servers import listed, llama_cpp, lm_studio, serve
from tests.fixtures.rehearsal import RehearsalServer

pytestmark = pytest.mark.django_db
SECRET = "sk-very-secret-key"
OPENAI = "https://api.openai.com/v1"
STUDIO = [
    {"id": "llama-8b", "type": "llm", "state": "loaded", "loaded_context_length": 4096},
    {"id": "nomic", "type": "embeddings", "state": "loaded"},
]


@pytest.fixture
def server(other_servers: tuple[RehearsalServer, RehearsalServer]) -> RehearsalServer:
    return other_servers[0]


@pytest.fixture
def chosen_by_page(settings: Any) -> None:
    """Nothing is set by the environment, and `make up` has found nothing."""
    settings.CHAT = settings.CHAT | {"base_url": "", "model": "", "is_rehearsal": False}


def press(desk: Client, deed: str, **fields: Any) -> str:
    """What the page puts in its place when the button is pressed."""
    answer = desk.post(reverse("admin:mind"), {"deed": deed, **fields}, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


def test_the_page_lists_what_runs_on_this_machine(desk: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert reverse("admin:mind") == "/admin/mind/"  # as `make up` prints it
    with serve(lm_studio(*STUDIO)) as address:
        monkeypatch.setitem(USUAL_PORTS, urlsplit(address).port, Kind.LM_STUDIO)
        shown = desk.get(reverse("admin:mind")).content.decode()
    assert "LM Studio" in shown
    assert re.search(r'<option value="llama-8b">llama-8b · 4,096 tokens · loaded</option>', shown)
    assert "nomic" not in shown
    assert "Groq" in shown


def test_a_try_tells_the_sentence_its_times_and_what_works(desk: Client, server: RehearsalServer) -> None:
    server.script(
        {"pieces": ["A fire ", "and <b>tea</b>."], "delay_between": 0.05},
        {"tool_calls": [{"name": "look_up_weather", "arguments": {"city": "Lisbon"}}]},
        {"task": "any", "answer": json.dumps({"city": "Porto", "country": "Portugal"})},
        {"error": {"status": 400, "body": {"error": {"message": "image input is not supported"}}}},
    )
    shown = press(desk, "try", base_url=server.url, model="rehearsal", api_key=SECRET)
    assert "A fire and &lt;b&gt;tea&lt;/b&gt;." in shown
    assert "tokens per second" in shown
    told = dict(re.findall(r"<dt>(.*?)</dt> ?<dd>(.*?)</dd>", shown))
    assert told["Tools (reminders, looking things up)"] == "works"
    assert told["JSON (learning from talks)"] == "works"
    assert told["Pictures"] == "does not work"
    assert told["Reads at once"] == "The server does not say."
    assert SECRET not in shown
    assert not Provider.objects.exists()


def test_what_went_wrong_is_told_with_the_servers_words_and_without_the_key(
    desk: Client, server: RehearsalServer
) -> None:
    server.script({"error": {"status": 401, "body": {"error": {"message": f"Bad key {SECRET}"}}}})
    shown = press(desk, "try", base_url=server.url, model="rehearsal", api_key=SECRET)
    assert "The key was refused" in shown
    assert "Bad key" in shown
    assert SECRET not in shown


def test_an_addresss_models_are_listed_a_thousand_too(desk: Client) -> None:
    with serve({"/v1/models": listed(*(f"model-{number}" for number in range(1000)))}) as address:
        shown = press(desk, "list", base_url=f"{address}/v1")
    assert "1000 models" in shown
    assert shown.count("<option") == 1000
    assert "Nothing answers at 127.0.0.1:1" in press(desk, "list", base_url="http://127.0.0.1:1/v1")
    assert "does not list its models" in press(desk, "list", service="https://api.anthropic.com/v1")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"model": "m"}, "Choose a service, or enter an address"),
        ({"base_url": "http://127.0.0.1:1/v1"}, "Enter the model"),
        ({"service": OPENAI, "base_url": "http://127.0.0.1:1/v1", "model": "m"}, "not both"),
        ({"base_url": "http://a\x01b/v1", "model": "m"}, "signs that no address has"),
        ({"base_url": "file:///etc/passwd", "model": "m"}, "An address begins with"),
        ({"base_url": "http://127.0.0.1:1/v1", "model": "m", "api_key": "two words"}, "A key has no blanks"),
        ({"base_url": "http://127.0.0.1:1/v1", "model": "m", "api_key": "ключ"}, "A key has no blanks"),
    ],
)
@pytest.mark.parametrize("deed", ["try", "use"])
def test_what_cannot_be_asked_is_said_and_nothing_is_kept(
    desk: Client, deed: str, fields: dict[str, str], sentence: str
) -> None:
    assert sentence in press(desk, deed, **fields)
    assert not Provider.objects.exists()


@pytest.mark.usefixtures("chosen_by_page")
def test_use_puts_the_model_in_force_with_its_key_and_no_more_context_than_it_has(desk: Client) -> None:
    with serve(llama_cpp("small", 4096)) as address:
        fields = {"deed": "use", "base_url": f"{address}/v1/", "model": "small", "api_key": SECRET}
        answer = desk.post(reverse("admin:mind"), fields, follow=True)
    shown = answer.content.decode()
    assert "small answers from now on." in shown
    assert SECRET not in shown
    provider = get_provider()
    assert (provider.base_url, provider.model, provider.api_key) == (f"{address}/v1", "small", SECRET)
    assert provider.context_tokens == 4096
    assert SECRET.encode() not in bytes(Provider.objects.get().sealed_key)
    assert AuditEntry.objects.get().deed == AuditEntry.Deed.CHANGED


async def refuse(request: web.Request) -> web.Response:
    return web.json_response({"error": {"message": "Incorrect API key"}}, status=401)


@pytest.mark.usefixtures("chosen_by_page")
def test_a_model_whose_server_refuses_the_key_is_used_with_a_warning(desk: Client) -> None:
    with serve({"/v1/models": refuse}) as address:
        fields = {"deed": "use", "base_url": f"{address}/v1", "model": "small", "api_key": SECRET}
        shown = desk.post(reverse("admin:mind"), fields, follow=True).content.decode()
    assert "requires a valid key" in shown
    assert "small answers from now on." not in shown
    assert get_provider().model == "small"


def test_what_the_environment_sets_is_shown_as_what_wins(desk: Client, settings: Any) -> None:
    settings.CHAT = settings.CHAT | {
        "base_url": "http://model.test/v1",
        "model": "big",
        "is_rehearsal": False,
    }
    settings.CHAT_IS_FOUND = False
    shown = desk.get(reverse("admin:mind")).content.decode()
    assert "http://model.test/v1" in shown
    assert "takes precedence" in shown
    with serve(llama_cpp("small", 4096)) as address:
        fields = {"deed": "use", "base_url": f"{address}/v1", "model": "small"}
        answer = desk.post(reverse("admin:mind"), fields, follow=True)
    assert "small is saved, but not in use" in answer.content.decode()
    assert get_provider().model == "big"


def test_only_operators_who_may_change_providers_come_in(client: Client, opal: User, mallory: User) -> None:
    client.force_login(mallory)
    assert client.get(reverse("admin:mind"), follow=True).status_code == 403
    opal.groups.clear()
    rights = ("view_provider", "change_provider")  # to use a model may add a provider
    opal.user_permissions.add(*Permission.objects.filter(codename__in=rights))
    client.force_login(opal)
    assert client.post(reverse("admin:mind"), {"deed": "try"}).status_code == 403


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("chosen_by_page")
def test_the_page_names_who_works_beside_the_talk(desk: Client) -> None:
    choose_chat("Mine", "http://llm.example/v1", "big")
    assert "Background work:" not in desk.get(reverse("admin:mind")).content.decode()
    address = "http://small.example/v1"
    Provider.objects.create(name="Small", base_url=address, model="small", capability="background")
    choose_chat("Mine", "http://llm.example/v1", "big")  # this process follows
    shown = desk.get(reverse("admin:mind")).content.decode()
    assert re.search(r"Background work:.*small.*http://small.example/v1", shown)


def test_today_leads_to_the_choice_of_a_model_where_there_is_none(desk: Client, settings: Any) -> None:
    words = "No language model is chosen"
    assert words not in desk.get(reverse("admin:index")).content.decode()
    settings.CHAT = settings.CHAT | {"is_rehearsal": True, "base_url": "http://127.0.0.1:9/v1"}
    settings.CHAT_IS_FOUND = False
    shown = desk.get(reverse("admin:index")).content.decode()
    assert words in shown
    assert f'href="{reverse("admin:mind")}">Choose a model' in shown
    assert "See what failed" not in shown


def test_what_ails_a_part_is_said_in_words_of_its_own(settings: Any) -> None:
    states = dict.fromkeys(("redis", "disk", "chat"), "degraded")
    told = ["does not respond", "is almost full, or cannot be read", "gives no answers"]
    assert [words for _name, _state, words in describe_health(states)] == told
    settings.CHAT, settings.CHAT_IS_FOUND = settings.CHAT | {"is_rehearsal": True}, False
    assert describe_health({"chat": "ok"}) == [("chat model", "degraded", "is not chosen")]

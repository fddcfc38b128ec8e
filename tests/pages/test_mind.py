"""The page of a companion's mind: its model, its manner, its values, and a preset read from file."""

import json
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import ModelCall, User
from companions.minds import preset_files
from companions.minds.sampling import PARAMETERS
from companions.minds.usage import measure_daily_use
from companions.models import Companion, Mind
from providers.models import Provider
from providers.selection import choose_chat, follow_change
from tests.fixtures.rest import Api, problem

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]
TEXT_PRESET = {
    **{
        "temp": 1.1,
        "top_p": 0.95,
        "top_k": 0,
        "min_p": 0.01,
        "rep_pen": 1.1,
        "freq_pen": 0.2,
        "presence_pen": 0,
    },
    **{"dry_multiplier": 0, "genamt": 250, "max_length": 8192, "mirostat_mode": 0, "tfs": 1},
    "custom_stopping_strings": '["\\n\\n", "###"]',
}
CHAT_PRESET = {
    **{
        "temperature": 0.7,
        "frequency_penalty": 0.5,
        "presence_penalty": -0.5,
        "top_p": 1,
        "top_k": 0,
        "min_p": 0,
    },
    **{"repetition_penalty": 1, "openai_max_context": 4095, "openai_max_tokens": 300, "seed": -1, "n": 1},
    "prompts": [{"name": "Main", "content": "You are a pirate."}],
    "<b>name</b>": "x",
}


@pytest.fixture
def models(settings: Any, django_capture_on_commit_callbacks: Any) -> Iterator[None]:
    """Two models of the operator's: quiet, and before it loud."""
    settings.CHAT_IS_FOUND = True
    with django_capture_on_commit_callbacks(execute=True):
        choose_chat("First", "http://127.0.0.1:9/v1", "quiet", context_tokens=4096)
        choose_chat("Second", "http://127.0.0.1:9/v1", "loud")
    yield
    with django_capture_on_commit_callbacks(execute=True):
        follow_change()


def path(companion: Companion, rest: str = "") -> str:
    return f"/companions/{companion.pk}/mind/{rest}"


def page(client: Client, companion: Companion) -> str:
    return client.get(path(companion)).content.decode()


def upload(content: Any) -> SimpleUploadedFile:
    return SimpleUploadedFile(
        "preset.json", content if isinstance(content, bytes) else json.dumps(content).encode()
    )


@pytest.mark.usefixtures("models")
def test_a_model_that_is_there_is_chosen_and_no_other(at_home: Client, mira: Companion) -> None:
    assert "The first answer will come from <strong>loud</strong>" in page(at_home, mira)
    at_home.post(path(mira), {"model": "quiet", "background_model": "loud", "allows_stand_in": "on"})
    mind = Mind.objects.get()
    assert (mind.model, mind.background_model, mind.allows_stand_in) == ("quiet", "loud", True)
    assert mind.prompt_version
    for sent in ({"model": "silent"}, {"model": ""}, {"model": "quiet", "background_model": "silent"}):
        assert at_home.post(path(mira), sent).status_code == 422
    mind.refresh_from_db()
    assert (mind.model, mind.background_model) == ("quiet", "loud")


@pytest.mark.usefixtures("models")
def test_a_model_that_is_away_is_said_so_and_stays(
    at_home: Client, mira: Companion, django_capture_on_commit_callbacks: Any
) -> None:
    Mind.objects.create(companion=mira, model="quiet")
    with django_capture_on_commit_callbacks(execute=True):
        Provider.objects.filter(model="quiet").update(is_active=False)
        follow_change()
    shown = page(at_home, mira)
    assert "is away right now" in shown
    at_home.post(path(mira), {"model": "quiet", "allows_stand_in": "on"})
    mind = Mind.objects.get()
    assert (mind.model, mind.allows_stand_in) == ("quiet", True)


def test_the_rehearsal_model_is_none_to_choose(at_home: Client, mira: Companion, rehearsal: object) -> None:
    assert "No language model is connected yet" in page(at_home, mira)


def test_a_manner_is_chosen_by_one_tap_and_puts_values_back(at_home: Client, mira: Companion) -> None:
    Mind.objects.create(companion=mira, sampling={"temperature": 0.1})
    assert at_home.post(path(mira, "manner/"), {"preset": "calm"}).status_code == 302
    mind = Mind.objects.get()
    assert (mind.preset, mind.sampling) == ("calm", {})
    at_home.post(path(mira, "manner/"), {"preset": "rude"})
    mind.refresh_from_db()
    assert mind.preset == "calm"
    assert 'value="calm" aria-pressed="true"' in page(at_home, mira)


def test_values_are_kept_shown_and_let_go(at_home: Client, mira: Companion) -> None:
    sent = {"temperature": "1.25", "top_k": "30", "stop_1": "\\n\\n", "stop_2": "", "context_tokens": "2048"}
    at_home.post(path(mira, "values/"), sent)
    mind = Mind.objects.get()
    assert mind.sampling == {"temperature": 1.25, "top_k": 30, "stop": ["\n\n"]}
    assert mind.context_tokens == 2048
    shown = page(at_home, mira)
    assert 'value="1.25"' in shown
    assert 'value="\\n\\n"' in shown
    at_home.post(path(mira, "values/"), {})
    mind.refresh_from_db()
    assert (mind.sampling, mind.context_tokens) == ({}, None)


@pytest.mark.parametrize(
    "sent",
    [
        *({name: str(parameter.most + 1)} for name, parameter in PARAMETERS.items()),
        {"temperature": "nan"},
        {"temperature": "hot"},
        {"temperature": "1e999"},
        {"seed": "9" * 5000},
        {"top_k": "1.5"},
        {"stop_1": "#" * 41},
        {"stop_1": "\x00"},
        {"context_tokens": "1023"},
        {"context_tokens": "-1"},
    ],
    ids=lambda sent: str(sent)[:40],
)
def test_a_value_out_of_bounds_comes_back_with_its_error(
    at_home: Client, mira: Companion, sent: dict[str, str]
) -> None:
    response = at_home.post(path(mira, "values/"), sent)
    assert response.status_code == 422
    assert list(response.context["values_form"].errors) == list(sent)
    assert not Mind.objects.exists()


def test_a_preset_file_is_shown_and_kept_only_once_it_is_saved(at_home: Client, mira: Companion) -> None:
    response = at_home.post(path(mira, "preset-file/"), {"file": upload(TEXT_PRESET)})
    assert response.status_code == 200
    assert not Mind.objects.exists()
    shown = response.content.decode()
    assert "mirostat_mode, tfs" in shown
    assert "2 entries in the file are not used" in shown
    form = response.context["values_form"]
    at_home.post(path(mira, "values/"), {name: form[name].value() or "" for name in form.fields})
    mind = Mind.objects.get()
    assert mind.context_tokens == 8192
    assert mind.sampling == {
        **{"temperature": 1.1, "top_p": 0.95, "min_p": 0.01, "repetition_penalty": 1.1},
        **{"frequency_penalty": 0.2, "max_tokens": 250, "stop": ["\n\n", "###"]},
    }


def test_a_chat_preset_is_read_without_its_prompts(as_alice: Api, mira: Companion) -> None:
    read = as_alice.form(f"/companions/{mira.pk}/mind/preset-file", {"file": upload(CHAT_PRESET)}).json()
    assert {name: value for name, value in read["sampling"].items() if value is not None} == {
        **{"temperature": 0.7, "frequency_penalty": 0.5, "presence_penalty": -0.5, "top_p": 1.0, "top_k": 0},
        **{"min_p": 0.0, "repetition_penalty": 1.0, "max_tokens": 300},
    }
    assert (read["context_tokens"], read["unused"]) == (4095, ["n", "prompts", "<b>name</b>"])
    assert not Mind.objects.exists()


def test_a_master_export_is_read_as_the_preset_that_it_contains(as_alice: Api, mira: Companion) -> None:
    where, whole = f"/companions/{mira.pk}/mind/preset-file", {"instruct": {"name": "ChatML"}}
    alone, within = (
        as_alice.form(where, {"file": upload(content)}).json()
        for content in (TEXT_PRESET, {**whole, "preset": TEXT_PRESET})
    )
    assert within == alone
    assert within["sampling"]["temperature"] == 1.1


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "This file is empty"),
        (b"\x89PNG\r\n", "not JSON"),
        (b'{"temp": NaN}', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"temp": ' + b"[" * 900 + b"]" * 900 + b"}", "temp: "),
        ([1], "not a SillyTavern preset"),
        ({"spec": "chara_card_v2", "data": {}}, "not a SillyTavern preset"),
        ({"temp": "hot"}, "temp: "),
        ({"temp": True}, "temp: "),
        ({"temp": 7}, "temp: "),
        (b'{"temp": 1e400}', ""),
        ({"rep_pen": -1}, "rep_pen: "),
        ({"genamt": 1}, "genamt: "),
        ({"genamt": 10**400}, ""),
        ({"openai_max_context": 12}, "openai_max_context: "),
        ({"max_length": "long"}, "max_length: "),
        ({"stopping_strings": ["\x00"]}, "stopping_strings: "),
        ({"custom_stopping_strings": '{"a": 1}'}, "custom_stopping_strings: "),
        (b" " * (preset_files.MAX_BYTES + 1), "too large"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_file_that_is_no_preset_is_refused_with_a_sentence(
    at_home: Client, mira: Companion, content: Any, named: str
) -> None:
    response = at_home.post(path(mira, "preset-file/"), {"file": upload(content)})
    assert response.status_code in {413, 422}
    assert named in response.context["file_error"]
    assert response.context["file_error"]
    assert not Mind.objects.exists()


def test_values_that_are_not_possible_are_left_out_with_a_sentence(at_home: Client, mira: Companion) -> None:
    content = TEXT_PRESET | {"genamt": 10**7, "top_k": "all", "max_length": 12}
    response = at_home.post(path(mira, "preset-file/"), {"file": upload(content)})
    assert response.status_code == 200
    read = response.context["read"]
    assert [sentence.split(":")[0] for sentence in read.refused] == ["top_k", "genamt", "max_length"]
    assert "max_tokens" not in read.sampling
    assert read.sampling["temperature"] == 1.1
    assert "genamt: Longest answer has to be between 16 and 131,072." in response.content.decode()


def test_an_answer_may_be_as_long_as_the_presets_of_today_say(at_home: Client, mira: Companion) -> None:
    response = at_home.post(path(mira, "preset-file/"), {"file": upload({"openai_max_tokens": 65_536})})
    assert response.context["read"].sampling == {"max_tokens": 65_536}


def test_what_a_file_is_called_in_it_is_shown_as_text(at_home: Client, mira: Companion) -> None:
    shown = at_home.post(path(mira, "preset-file/"), {"file": upload(CHAT_PRESET)}).content.decode()
    assert "<b>name" not in shown
    assert "&lt;b&gt;name" in shown


def test_what_a_day_takes_is_measured_by_model(alice: User, mira: Companion, tian: Companion) -> None:
    now = timezone.now()
    Companion.objects.update(created_at=now - timedelta(days=30))
    mira.refresh_from_db()

    def call(companion: Companion, purpose: str, tokens: int, days: int = 1, model: str = "quiet") -> None:
        ModelCall.objects.create(
            user=companion.user,
            companion=companion,
            purpose=purpose,
            model=model,
            prompt_tokens=tokens,
            completion_tokens=tokens // 10,
            started_at=now - timedelta(days=days),
        )

    call(mira, "answer", 70_000)
    call(mira, "waking", 7_000)
    call(mira, "closing", 700, days=6)
    call(mira, "embedding", 7_000)
    call(mira, "answer", 7_000, days=8)
    call(mira, "learning", 140, model="small")
    call(tian, "answer", 7_000)
    found = [(use.model, use.talk_tokens, use.background_tokens) for use in measure_daily_use(mira, now)]
    assert found == [("quiet", 12_100, 110), ("small", 0, 22)]
    mira.created_at = now - timedelta(hours=1)
    assert measure_daily_use(mira, now)[0].talk_tokens == 84_700


def test_what_a_day_costs_is_told_by_the_operators_prices(
    at_home: Client, alice: User, mira: Companion
) -> None:
    for model, price in (("quiet", Decimal(2)), ("free", None)):
        where = f"https://{model}.example/v1"
        Provider.objects.create(name=model, base_url=where, model=model, prompt_price=price)
        ModelCall.objects.create(
            **{"user": alice, "companion": mira, "purpose": "answer", "model": model, "provider": where},
            **{"prompt_tokens": 60_000, "completion_tokens": 9, "started_at": timezone.now()},
        )
    costs = {use.model: use.cost for use in measure_daily_use(mira, timezone.now())}
    assert costs == {"quiet": Decimal("0.12"), "free": None}
    shown = page(at_home, mira)
    assert shown.count("about 0.12 a day") == shown.count("in the currency its provider charges") == 1


@pytest.mark.usefixtures("models")
def test_the_api_shows_and_changes_a_mind(as_alice: Api, mira: Companion) -> None:
    where = f"/companions/{mira.pk}/mind"
    assert as_alice.get(where).json()["models"] == ["loud", "quiet"]
    changed = as_alice.call(
        "PATCH", where, {"model": "quiet", "preset": "calm", "sampling": {"seed": 7}, "context_tokens": 2048}
    ).json()
    assert (changed["model"], changed["preset"], changed["context_tokens"]) == ("quiet", "calm", 2048)
    assert changed["sampling"]["seed"] == 7
    assert as_alice.call("PATCH", where, {"context_tokens": None}).json()["context_tokens"] is None
    for body, field in (
        ({"model": "silent", "preset": "precise"}, "model"),
        ({"background_model": "silent"}, "background_model"),
        ({"preset": "rude", "allows_stand_in": True}, "preset"),
        ({"sampling": {"temperature": 3}}, "temperature"),
        ({"sampling": {"stop": ["#"] * 9}}, "stop"),
        ({"context_tokens": 1}, "context_tokens"),
    ):
        assert problem(as_alice.call("PATCH", where, body), 422, "bad_value")["field"] == field
    mind = Mind.objects.get()
    assert (mind.model, mind.preset, mind.allows_stand_in) == ("quiet", "calm", False)
    presets = as_alice.get("/presets").json()["items"]
    assert {"slug", "name", "line", "sampling"} == presets[0].keys()


@pytest.mark.usefixtures("models")
def test_the_page_asks_the_database_the_same_however_many_calls_there_are(
    at_home: Client, mira: Companion
) -> None:
    def count() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            page(at_home, mira)
        return len(queries)

    page(at_home, mira)
    before = count()
    ModelCall.objects.bulk_create(
        ModelCall(
            user=mira.user,
            companion=mira,
            purpose="answer",
            model=str(number),
            prompt_tokens=9,
            started_at=timezone.now(),
        )
        for number in range(30)
    )
    assert count() == before <= 12

"""Which chat provider is in force: the environment's, else the database's, else what was found; in every process."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, connections, transaction

from jobs.background import in_thread
from providers.errors import ModelMissing
from providers.models import Provider
from providers.selection import (
    FRESH_SECONDS,
    Cache,
    Capability,
    choose_chat,
    find_providers,
    follow_change,
    get_provider,
    get_sound_settings,
)
from providers.speech import get_engine, get_engine_name
from providers.transcription import get_model, get_place, is_offered
from tests.fixtures.sound import NO_SPEECH, NO_TRANSCRIPTION

KEY = "sk-of-the-operator-4711"
FOUND = {"base_url": "http://127.0.0.1:11434/v1", "api_key": "", "model": "found", "is_rehearsal": True}


@pytest.fixture
def found(settings: Any, transactional_db: None) -> Iterator[None]:
    """`make up` found a model; the operator has set none."""
    settings.CHAT, settings.CHAT_IS_FOUND = FOUND, True
    follow_change()  # the last test's rows are gone
    yield
    Provider.objects.all().delete()
    follow_change()
    get_provider()  # reads that there are none: a test in a loop is given what was read last


def add(name: str, **fields: Any) -> Provider:
    row = Provider(name=name, base_url=f"http://{name}.example/v1", model=f"m-{name}", **fields)
    row.full_clean()
    row.save()
    follow_change()
    return row


@pytest.mark.usefixtures("found")
def test_the_first_active_row_comes_before_what_was_found() -> None:
    assert (get_provider().model, get_provider().is_rehearsal) == ("found", True)
    second, first, off = add("b", order=2), add("a", order=1, context_tokens=4096, slots=3), add("c", order=0)
    Provider.objects.filter(pk=off.pk).update(is_active=False)
    follow_change()
    known = get_provider()
    assert (known.id, known.model, known.base_url) == (first.pk, "m-a", "http://a.example/v1")
    assert (known.context_tokens, known.slots, known.is_rehearsal) == (4096, 3, False)
    first.delete()
    follow_change()
    assert get_provider().id == second.pk


@pytest.mark.usefixtures("found")
def test_work_beside_the_talk_has_a_provider_of_its_own_or_the_talks() -> None:
    add("a")
    assert get_provider(Capability.BACKGROUND).model == "m-a"
    add("b", capability=Capability.BACKGROUND)
    assert (get_provider(Capability.BACKGROUND).model, get_provider().model) == ("m-b", "m-a")


@pytest.mark.usefixtures("found")
def test_providers_are_found_in_order_of_fallback_or_by_a_model() -> None:
    for name, fields in {"b": {"order": 2}, "a": {}, "c": {"capability": Capability.BACKGROUND}}.items():
        add(name, **fields)
    assert [provider.model for provider in find_providers()] == ["m-a", "m-b"]
    assert [provider.model for provider in find_providers(Capability.BACKGROUND)] == ["m-c", "m-a", "m-b"]
    assert [provider.model for provider in find_providers(model="m-b")] == ["m-b"]
    assert [provider.model for provider in find_providers(model="found")] == ["found"]
    assert find_providers(model="m-c") == []
    with pytest.raises(ModelMissing):
        get_provider(model="m-c")


@pytest.mark.usefixtures("found")
def test_what_the_environment_sets_wins_and_no_database_is_asked(
    settings: Any, django_assert_num_queries: Any
) -> None:
    add("a")
    settings.CHAT_IS_FOUND = False
    with django_assert_num_queries(0):
        assert get_provider().model == get_provider(Capability.BACKGROUND).model == "found"
        assert find_providers(model="m-a") == []


@pytest.mark.usefixtures("found")
def test_the_database_is_read_once_in_a_while(django_assert_num_queries: Any) -> None:
    now = 100.0
    cache = Cache(lambda: now)
    with django_assert_num_queries(1):
        assert cache.get() == cache.get() == {}
    add("a")
    now += FRESH_SECONDS
    with django_assert_num_queries(1):
        assert cache.get()[Capability.CHAT][0].model == "m-a"


@pytest.mark.usefixtures("found")
def test_while_the_database_does_not_answer_it_is_what_was_known() -> None:
    now = 100.0
    cache = Cache(lambda: now)
    add("a")
    cache.get()
    now += FRESH_SECONDS
    other = connections.create_connection("default")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '50ms'")
        with other.cursor() as holder:
            holder.execute("BEGIN; LOCK TABLE providers_provider IN ACCESS EXCLUSIVE MODE")
        assert cache.get()[Capability.CHAT][0].model == "m-a"
        cursor.execute("SELECT 1")  # the transaction goes on
    other.close()


@pytest.mark.usefixtures("found")
async def test_an_event_loop_goes_by_what_was_read_last() -> None:
    await in_thread(add, "a")
    assert (await in_thread(get_provider)).model == "m-a"
    await in_thread(add, "b", order=-1)
    assert get_provider().model == "m-a"
    assert (await in_thread(get_provider)).model == "m-b"
    assert get_provider().model == "m-b"


@pytest.mark.usefixtures("found")
def test_the_chosen_one_comes_first_and_keeps_its_key() -> None:
    add("a", order=-3)
    chosen = choose_chat("Mine", "https://llm.example/v1", "big", api_key=KEY, context_tokens=32_000)
    assert (get_provider().model, get_provider().api_key) == ("big", KEY)
    choose_chat("Other", "https://llm.example/v1", "small")
    again = choose_chat("Mine again", "https://llm.example/v1", "big")
    assert (again.pk, get_provider().id, get_provider().api_key) == (chosen.pk, chosen.pk, KEY)
    assert get_provider().context_tokens == 32_000
    with pytest.raises(ValidationError, match="http://"):
        choose_chat("Wrong", "llm.example", "big")
    assert get_provider().id == chosen.pk


@pytest.mark.usefixtures("found")
def test_a_key_is_sealed_and_its_end_shown_at_most() -> None:
    row = choose_chat("Mine", "https://llm.example/v1", "big", api_key=KEY)
    with connection.cursor() as cursor:
        cursor.execute("SELECT provider::text, sealed_key FROM providers_provider provider")
        [(whole, sealed)] = cursor.fetchall()
    assert KEY not in whole
    assert KEY.encode() not in bytes(sealed)
    assert KEY not in repr(get_provider())
    assert row.key_end == "4711"
    row.api_key = "short-4711"
    assert row.key_end == ""


@pytest.mark.parametrize(
    "address",
    [
        *("llm.example/v1", "ftp://llm.example/v1", "http://", "http:///v1", "javascript:alert(1)"),
        *("http://llm.example:99999/v1", "http://[::1/v1", "http://a b/v1", "file:///etc/passwd"),
        *("https://me:secret@llm.example/v1", "https://llm.example/v1?key=secret", "https://llm.example/#v1"),
    ],
)
def test_what_is_no_address_of_a_server_is_refused(address: str) -> None:
    row = Provider(name="a", base_url=address, model="m")
    with pytest.raises(ValidationError) as refused:
        row.clean_fields()
    assert list(refused.value.message_dict) == ["base_url"]


@pytest.mark.usefixtures("found")
def test_speech_and_transcription_are_the_databases_where_the_environment_sets_none(settings: Any) -> None:
    settings.SPEECH, settings.TRANSCRIPTION = dict(NO_SPEECH) | {"engine": ""}, dict(NO_TRANSCRIPTION)
    assert not is_offered()
    add("ears", capability=Capability.TRANSCRIPTION, api_key=KEY)
    add("voice", capability=Capability.SPEECH)
    assert (is_offered(), get_place(), get_model()) == (True, "http://ears.example/v1", "m-ears")
    assert get_sound_settings(Capability.TRANSCRIPTION)["api_key"] == KEY
    engine = get_engine()
    assert engine is not None
    assert (engine.name, engine.place, engine.model) == ("openai", "http://voice.example/v1", "m-voice")
    settings.SPEECH = NO_SPEECH | {"engine": "fish", "base_url": "http://fish.example"}
    settings.TRANSCRIPTION = NO_TRANSCRIPTION | {"base_url": "http://whisper.example/v1"}
    assert get_engine_name() == "fish"
    assert get_place() == "http://whisper.example/v1"

"""Embedding spaces: what tells them apart, which one serves, and what does not get in."""

import json
from typing import Any

import numpy as np
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.limits.usage import Payer
from companions.models import Companion
from companions.pasts.job_progress import measure_progress
from companions.pasts.log_import import Line, import_log
from memory import tasks
from memory.embedding import embed_cue, embed_waiting
from memory.embedding.spaces import CueVector, clear_cache, find_serving_space, get_or_create_wanted_space
from memory.errors import WidestError, WidthError
from memory.models import Embedding, Memory, Space
from memory.recall.recall import Found, recall
from providers.checks import check_embedding
from providers.errors import ProviderRefused, ProviderUnavailable
from providers.models import Provider
from providers.selection import forget_providers
from tests.fixtures.embedding import embed_all
from tests.fixtures.spaces import read_providers
from tests.memory.conftest import DAY, EmbeddingServer, Say, asking, waiting

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]

BUILT_IN = {"base_url": "", "api_key": "", "model": ""}
E5 = {"query_prefix": "query: ", "document_prefix": "passage: "}
JINA = {
    "query_fields": '{"task": "retrieval.query", "dimensions": 4}',
    "document_fields": '{"task": "retrieval.passage", "dimensions": 4}',
}


def payer(companion: Companion) -> Payer:
    return Payer(companion.user_id, companion.pk)


def ask(companion: Companion, cue: str) -> list[Found]:
    vector = embed_cue(cue, payer(companion))
    return recall(companion.pk, cue, 10, now=DAY, zone=DAY.tzinfo, vector=vector)


def serves(companion: Companion) -> int | None:
    """How wide the space is in which a cue of the companion's is embedded."""
    embedded = embed_cue("tea", payer(companion))
    return embedded.space.width if embedded else None


def widths(memory: Memory) -> set[int]:
    return set(memory.embeddings.values_list("space__width", flat=True))


# -- the manner of asking


def test_prefixes_and_fields_are_sent(
    mira: Companion, say: Say, embedding_server: EmbeddingServer, settings: Any
) -> None:
    settings.EMBEDDING = asking(embedding_server, **E5, **JINA)
    say(mira, "Tea at four.")
    embed_waiting(mira.pk)
    embed_cue("tea", payer(mira))
    width, document, query = embedding_server.bodies
    assert (width["task"], width["dimensions"]) == ("retrieval.passage", 4)
    assert (document["input"], document["task"]) == (["passage: Tea at four."], "retrieval.passage")
    assert (query["input"], query["task"], query["dimensions"]) == (["query: tea"], "retrieval.query", 4)


def test_each_window_of_a_long_cue_has_the_prefix(
    mira: Companion, embedding_server: EmbeddingServer, settings: Any
) -> None:
    settings.EMBEDDING = asking(embedding_server, **E5)
    assert embed_cue("a long cue about tea and milk " * 2000, payer(mira)) is not None
    assert len(embedding_server.asked) == 8
    assert all(
        text.startswith("query: a long cue") or text.startswith("query: ") for text in embedding_server.asked
    )


@pytest.mark.parametrize(
    "other",
    [
        {"query_prefix": "query: "},
        {"document_prefix": "passage: "},
        {"query_fields": '{"task": "retrieval.query"}'},
        {"document_fields": '{"dimensions": 4}'},
        {"model": "another-model"},
    ],
    ids=lambda other: next(iter(other)),
)
def test_another_model_prefix_or_field_is_another_space(
    embedding_server: EmbeddingServer, settings: Any, other: dict[str, str]
) -> None:
    first = get_or_create_wanted_space()
    settings.EMBEDDING = {**asking(embedding_server), **other}
    second = get_or_create_wanted_space()
    settings.EMBEDDING = asking(embedding_server)
    assert first != second
    assert get_or_create_wanted_space() == first
    assert Space.objects.count() == 2


def test_fields_in_another_order_and_another_address_are_the_same_space(
    embedding_server: EmbeddingServer, settings: Any
) -> None:
    settings.EMBEDDING = asking(embedding_server, **JINA)
    first = get_or_create_wanted_space()
    turned = json.dumps(dict(reversed(json.loads(JINA["query_fields"]).items())))
    elsewhere = f"http://localhost:{embedding_server.server_port}/v1"
    settings.EMBEDDING = asking(embedding_server, **JINA) | {"query_fields": turned, "base_url": elsewhere}
    assert get_or_create_wanted_space() == first


@pytest.mark.parametrize(
    ("setting", "id", "words"),
    [
        (
            {"query_fields": "task=query"},
            "providers.E001",
            "EMBEDDING_QUERY_FIELDS: 'task=query' is no JSON object",
        ),
        ({"document_fields": "[1]"}, "providers.E001", "EMBEDDING_DOCUMENT_FIELDS: '[1]' is no JSON object"),
        ({"query_fields": '{"model": "x"}'}, "providers.E001", "may not hold model"),
        ({"query_prefix": "x" * 201}, "providers.E002", "too long"),
        ({"query_fields": '{"dimensions": 512}'}, "providers.E003", "other dimensions"),
        ({"query_prefix": "query: ", "base_url": ""}, "providers.W001", "built-in"),
    ],
    ids=lambda value: value if str(value).startswith("providers") else "",
)
def test_settings_that_cannot_be_meant_are_told_with_a_hint(
    settings: Any, setting: dict[str, str], id: str, words: str
) -> None:
    settings.EMBEDDING = {"base_url": "http://127.0.0.1:9/v1", "api_key": "", "model": "m"} | setting
    (message,) = check_embedding()
    assert message.id == id
    assert words in message.msg
    assert message.hint


def test_fields_that_are_no_object_are_not_sent(embedding_server: EmbeddingServer, settings: Any) -> None:
    settings.EMBEDDING = asking(embedding_server, query_fields="nonsense")
    with pytest.raises(ImproperlyConfigured, match="no JSON object"):
        get_or_create_wanted_space()


# -- which one serves


@pytest.fixture
def moving(mira: Companion, say: Say, embedding_server: EmbeddingServer, settings: Any) -> list[Memory]:
    """A hundred memories, all embedded by the built-in model; the server's model is wanted since."""
    settings.EMBEDDING = BUILT_IN
    memories = say(mira, *(f"Walk number {number}." for number in range(100)), "Tea at four.")
    embed_all()
    settings.EMBEDDING = asking(embedding_server)
    return memories


def test_the_older_space_serves_until_the_last_memory_is_done(mira: Companion, moving: list[Memory]) -> None:
    assert serves(mira) == 384
    embed_waiting(mira.pk, limit=100)
    clear_cache()
    assert serves(mira) == 384
    assert ask(mira, "hot drinks")[0].reasons["likeness"] is not None
    embed_waiting(mira.pk)
    assert serves(mira) == 4


def test_each_companion_moves_on_its_own(
    mira: Companion, tian: Companion, moving: list[Memory], say: Say
) -> None:
    say(tian, "Drei.")
    embed_waiting(tian.pk)
    assert (serves(mira), serves(tian)) == (384, 4)


def test_what_is_new_is_found_by_its_meaning_while_all_is_embedded_again(
    mira: Companion, moving: list[Memory], say: Say, embedding_server: EmbeddingServer
) -> None:
    assert serves(mira) == 384
    embedding_server.breaks_after = embedding_server.requests
    (new,) = say(mira, "My parrot whistles Mozart.", at=timezone.now())
    with pytest.raises(Exception, match="out of order"):
        embed_waiting(mira.pk)
    assert widths(new) == {384}
    assert ask(mira, "musical birds")[0].memory == new
    embedding_server.breaks_after = 1000
    embed_waiting(mira.pk)
    assert widths(new) == {384, 4}
    (newer,) = say(mira, "I sold the boat.", at=timezone.now())
    embed_waiting(mira.pk)
    assert widths(newer) == {4}


def test_a_space_that_nobody_can_be_asked_for_serves_no_longer(
    mira: Companion, say: Say, embedding_server: EmbeddingServer, settings: Any
) -> None:
    say(mira, "Tea at four.")
    embed_all()
    settings.EMBEDDING = BUILT_IN
    assert serves(mira) == 384


def test_the_previous_embedder_is_asked_where_the_settings_still_name_it(
    mira: Companion, say: Say, embedding_server: EmbeddingServer, settings: Any
) -> None:
    say(mira, "Tea at four.")
    embed_all()
    settings.EMBEDDING, settings.EMBEDDING_PREVIOUS = BUILT_IN, asking(embedding_server)
    assert serves(mira) == 4
    embed_all()
    assert serves(mira) == 384


@pytest.fixture
def rows(moving: list[Memory], embedding_server: EmbeddingServer, settings: Any) -> list[Provider]:
    """Two providers of embedding on one server, of which the first is in force: 4 numbers wide, and 6."""
    settings.EMBEDDING = BUILT_IN
    embedding_server.widths = {"first": 4, "second": 6}
    address = f"http://127.0.0.1:{embedding_server.server_port}/v1"
    common = {"capability": "embedding", "base_url": address}
    rows = [
        Provider.objects.create(name=name, model=name, order=order, **common)
        for order, name in enumerate(embedding_server.widths)
    ]
    forget_providers()
    return rows


def put_first(row: Provider) -> None:
    Provider.objects.exclude(pk=row.pk).update(order=1)
    Provider.objects.filter(pk=row.pk).update(order=0)
    forget_providers()


def test_after_another_provider_is_put_first_the_one_before_serves_until_all_is_done(
    mira: Companion, rows: list[Provider], say: Say
) -> None:
    first, second = rows
    assert serves(mira) == 384
    embed_all()
    assert serves(mira) == 4
    put_first(second)
    assert serves(mira) == 4
    (new,) = say(mira, "I sold the boat.", at=timezone.now())
    embed_all()
    assert serves(mira) == 6
    (newer,) = say(mira, "My parrot whistles Mozart.", at=timezone.now())
    embed_all()
    put_first(first)
    assert (widths(new), widths(newer)) == ({4, 6}, {6})
    assert serves(mira) == 6
    embed_all()
    assert serves(mira) == 4


def test_a_provider_that_fails_as_it_is_first_asked_bears_its_error(
    rows: list[Provider], embedding_server: EmbeddingServer
) -> None:
    embedding_server.shutdown()
    embedding_server.server_close()
    with pytest.raises(ProviderUnavailable):
        embed_all()
    assert Provider.objects.get(pk=rows[0].pk).last_error == "unreachable"


def test_a_wanted_server_that_was_never_reached_takes_nothing_away(
    mira: Companion, moving: list[Memory], say: Say, embedding_server: EmbeddingServer
) -> None:
    embedding_server.shutdown()
    embedding_server.server_close()
    assert serves(mira) == 384
    assert ask(mira, "hot drinks")
    assert waiting(mira.pk) == 101
    (new,) = say(mira, "My parrot whistles Mozart.", at=timezone.now())
    for companion_id in (mira.pk, None):
        with pytest.raises(ProviderUnavailable):
            embed_waiting(companion_id)
    assert widths(new) == {384}
    assert ask(mira, "musical birds")[0].memory == new


def test_a_wanted_server_that_answers_too_wide_takes_nothing_away(
    mira: Companion, moving: list[Memory], say: Say, embedding_server: EmbeddingServer
) -> None:
    embedding_server.width = 16_001
    (new,) = say(mira, "My parrot whistles Mozart.", at=timezone.now())
    for companion_id in (mira.pk, None):
        with pytest.raises(WidestError):
            embed_waiting(companion_id)
    assert widths(new) == {384}
    assert ask(mira, "musical birds")[0].memory == new


def queries_to_choose(companion: Companion) -> int:
    """For the second choice of a process."""
    find_serving_space(companion.pk)
    read_providers()
    with CaptureQueriesContext(connection) as asked:
        find_serving_space(companion.pk)
    return len(asked)


def test_to_choose_costs_one_query_while_a_companion_moves_and_none_else(
    mira: Companion, moving: list[Memory], settings: Any
) -> None:
    settings.EMBEDDING, wanted = BUILT_IN, settings.EMBEDDING
    assert queries_to_choose(mira) == 0
    settings.EMBEDDING = wanted
    assert queries_to_choose(mira) == 1
    embed_all()
    assert queries_to_choose(mira) == 0


# -- what does not get in


def test_another_width_changes_nothing_and_is_an_alarm(
    mira: Companion, say: Say, embedding_server: EmbeddingServer, caplog: Any
) -> None:
    old, _ = say(mira, "Tea at four.", "Walk.")
    embed_all()
    embedding_server.width = 5
    (new,) = say(mira, "Milk.", at=timezone.now())
    for _ in range(2):
        clear_cache()
        with pytest.raises(WidthError, match="4 wide"):
            embed_all()
        tasks.embed_waiting()
    space = Space.objects.get()
    assert (space.width, space.answered_width) == (4, 5)
    assert space.answered_at is not None
    assert not new.embeddings.exists()
    assert embed_cue("tea", payer(mira)) is None
    assert ask(mira, "tea")[0].memory == old
    assert caplog.text.count("embedding_width_changed") == 1
    embedding_server.width = 4
    clear_cache()
    assert embed_all() == 1
    space.refresh_from_db()
    assert (space.answered_width, space.answered_at) == (None, None)


def test_a_cue_raises_the_alarm_as_well(mira: Companion, embedding_server: EmbeddingServer) -> None:
    assert serves(mira) == 4
    embedding_server.width = 5
    assert serves(mira) is None
    assert Space.objects.get().answered_width == 5


def test_nothing_wider_than_16000_becomes_a_space(
    mira: Companion, say: Say, embedding_server: EmbeddingServer
) -> None:
    say(mira, "Tea.")
    embedding_server.width = 16_001
    with pytest.raises(WidestError, match="16001 numbers; a space holds at most 16000"):
        embed_all()
    assert not Space.objects.exists()
    assert [one.memory.text for one in ask(mira, "tea")] == ["Tea."]
    with pytest.raises(IntegrityError):
        Space.objects.create(model="m", width=16_001, max_tokens=1)


@pytest.mark.parametrize("width", [1, 2000, 2001, 3072, 16_000])
def test_any_width_up_to_16000_is_stored_and_found(
    mira: Companion, say: Say, embedding_server: EmbeddingServer, width: int
) -> None:
    say(mira, "Tea.", "NOTHING")
    embedding_server.width = width
    assert embed_all() == 2
    found = {one.memory.text: one.reasons["likeness"] for one in ask(mira, "tea")}
    assert found["Tea."] == pytest.approx(1, abs=1e-3)
    assert found["NOTHING"] == pytest.approx(0, abs=1e-3)


def test_of_wide_vectors_the_nearest_are_found_exactly(mira: Companion, say: Say) -> None:
    chance = np.random.default_rng(7)
    memories = say(mira, *(f"Walk {number}." for number in range(500)))
    space = Space.objects.create(model="wide", width=3072, max_tokens=1)
    vectors = chance.normal(size=(500, 40)) @ chance.normal(size=(40, 3072))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    Embedding.objects.bulk_create(
        Embedding(companion=mira, memory=memory, space=space, vector=vector)
        for memory, vector in zip(memories, vectors, strict=True)
    )
    cue = CueVector(space, vectors[123].astype(np.float32))
    found = recall(mira.pk, "", 10, now=DAY, zone=DAY.tzinfo, vector=cue)
    assert found[0].memory == memories[123]
    exact = dict(zip((memory.pk for memory in memories), vectors @ vectors[123], strict=True))
    for one in found:
        assert one.reasons["likeness"] == pytest.approx(exact[one.memory.pk], abs=0.03)


def test_a_cue_without_meaning_has_no_vector(mira: Companion, embedding_server: EmbeddingServer) -> None:
    assert embed_cue("NOTHING", payer(mira)) is None


# -- what a server refuses


def test_a_refused_line_does_not_keep_its_import_running(
    mira: Companion, embedding_server: EmbeddingServer
) -> None:
    lines = [Line(role="user", text=text, at=DAY) for text in ("Tea.", "REFUSED", "Milk.")]
    job = import_log(mira, lines, timezone.now())
    assert measure_progress(job) == ("running", 0)
    embed_all()
    assert measure_progress(job) == ("done", 3)
    assert ask(mira, "refused")[0].memory.text == "REFUSED"


def test_where_all_is_refused_nothing_is_marked(
    mira: Companion, say: Say, embedding_server: EmbeddingServer
) -> None:
    say(mira, *(f"Walk {number}." for number in range(70)))
    assert serves(mira) == 4
    embedding_server.refuses_all, before = True, len(embedding_server.bodies)
    with pytest.raises(ProviderRefused):
        embed_all()
    batch, *alone = (body["input"] for body in embedding_server.bodies[before:])
    first = [batch[:1]] if len(batch) > 1 else []  # a batch may be one text, for it begins anywhere
    assert alone == [*first, ["width"]]  # the most harmless text
    assert waiting(mira.pk) == 70

"""Embedding: found from rows, done once, kept when interrupted, redone when the text or the model changes."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from accounts.models import User
from companions.models import Companion
from config.celery import app
from jobs import background
from memory import tasks
from memory.embedding import backlog, embed_cue, embed_waiting
from memory.embedding.spaces import find_serving_space
from memory.errors import WidthError
from memory.models import Embedding, Memory, Space
from memory.recall.candidates import PackedIndex, hash_term
from memory.store import correct
from providers.errors import ProviderRefused, ProviderUnavailable
from tests.fixtures.embedding import embed_all
from tests.fixtures.turns import make_companion
from tests.memory.conftest import DAY, EmbeddingServer, Say, waiting


@pytest.fixture
def many(mira: Companion, say: Say) -> list[Memory]:
    return say(mira, *(f"Walk number {number}." for number in range(150)))


def test_what_waits_is_embedded_once(mira: Companion, tian: Companion, say: Say) -> None:
    say(mira, "One.", "Two.")
    say(tian, "Drei.")
    assert (waiting(mira.pk), waiting(tian.pk)) == (2, 1)
    assert embed_waiting(mira.pk) == 2
    assert (waiting(mira.pk), waiting(tian.pk)) == (0, 1)
    assert embed_all() == 1
    assert embed_all() == 0
    assert Embedding.objects.filter(companion=mira, memory__companion=mira).count() == 2
    assert find_serving_space() == Space.objects.get(model="all-MiniLM-L6-v2", width=384)


def test_a_limit_leaves_the_rest_waiting(mira: Companion, many: list[Memory]) -> None:
    assert embed_waiting(mira.pk, limit=70) == 70
    assert waiting(mira.pk) == 80


def test_a_long_text_is_embedded_in_windows_and_found_by_its_end(mira: Companion, say: Say) -> None:
    from memory.recall.recall import recall

    (long,) = say(mira, "The weather was dull all day long. " * 400 + "My parrot can whistle Mozart.")
    say(
        mira,
        *(f"The weather on day {number} was dull all day long." for number in range(20)),
        at=DAY + timedelta(1),
    )
    embed_waiting(mira.pk)
    windows = list(long.embeddings.order_by("window").values_list("window", flat=True))
    assert windows == list(range(len(windows)))
    assert len(windows) > 10
    cue = "musical birds"
    vector = embed_cue(cue)
    found = recall(mira.pk, cue, 30, now=DAY, zone=DAY.tzinfo, vector=vector)
    assert vector
    assert found[0].memory == long
    assert len(found) == len({hit.memory.pk for hit in found}) == 21  # once, however many windows it has
    best = max(float(vector.vector @ window.vector) for window in long.embeddings.all())
    assert found[0].reasons["likeness"] == pytest.approx(best, abs=1e-3)


@pytest.mark.parametrize("cue", ["tea", "a long cue about tea and milk " * 2000])
def test_a_cue_of_any_length_has_one_vector_of_length_one(db: None, cue: str) -> None:
    embedded = embed_cue(cue)
    assert embedded is not None
    assert embedded.vector.shape == (embedded.space.width,) == (384,)
    assert abs(float((embedded.vector**2).sum()) - 1) < 1e-4


@pytest.mark.parametrize("cue", ["", "  ", "\x00", "\ud800"])
def test_an_empty_cue_has_no_vector(db: None, cue: str) -> None:
    assert embed_cue(cue) is None


def test_a_cue_has_no_vector_while_the_provider_is_down(db: None, embedding_server: EmbeddingServer) -> None:
    embedding_server.breaks_after = 0
    assert embed_cue("tea") is None


def test_what_was_embedded_before_a_breakdown_is_kept_and_the_rest_done_later(
    mira: Companion, many: list[Memory], embedding_server: EmbeddingServer
) -> None:
    embedding_server.breaks_after = 1
    with pytest.raises(ProviderUnavailable):
        embed_waiting(mira.pk)
    assert 0 < waiting(mira.pk) < 150
    embedding_server.breaks_after = 1000
    embed_waiting(mira.pk)
    assert waiting(mira.pk) == 0
    assert sorted(embedding_server.asked) == sorted(memory.text for memory in many)


def test_a_text_that_the_provider_refuses_holds_no_other_back(
    mira: Companion, say: Say, embedding_server: EmbeddingServer
) -> None:
    *_, refused = say(mira, *(f"Walk {number}." for number in range(10)), "REFUSED")
    assert embed_waiting(mira.pk) == 10
    assert [one.vector for one in refused.embeddings.all()] == [None]
    assert waiting(mira.pk) == 0
    correct(refused, "Walk 11.", DAY)
    assert embed_waiting(mira.pk) == 1


def test_vectors_of_a_wrong_width_are_not_stored(
    mira: Companion, many: list[Memory], embedding_server: EmbeddingServer
) -> None:
    assert find_serving_space() == Space.objects.get(width=4)
    embedding_server.width = 5
    with pytest.raises(WidthError, match="its space is 4 wide"):
        embed_waiting(mira.pk)
    assert not Embedding.objects.exists()
    assert waiting(mira.pk) == 150


def test_a_refused_key_is_not_tried_with_every_text(
    mira: Companion, many: list[Memory], embedding_server: EmbeddingServer
) -> None:
    find_serving_space()
    embedding_server.refuses_key = True
    with pytest.raises(ProviderRefused):
        embed_waiting(mira.pk)
    assert embedding_server.requests == 1
    assert waiting(mira.pk) == 150


def test_another_model_embeds_again_beside_the_old_one(
    mira: Companion, say: Say, embedding_server: EmbeddingServer, settings: Any
) -> None:
    (memory,) = say(mira, "Tea at four.")
    assert embed_all() == 1
    settings.EMBEDDING = {"base_url": "", "api_key": "", "model": ""}
    assert waiting(mira.pk) == 1
    assert embed_all() == 1
    assert set(memory.embeddings.values_list("space__width", flat=True)) == {4, 384}


def test_what_waits_is_counted_while_the_provider_is_down(
    mira: Companion, say: Say, embedding_server: EmbeddingServer
) -> None:
    say(mira, "Tea.")
    embedding_server.shutdown()
    embedding_server.server_close()
    assert waiting(mira.pk) == 1


def test_a_corrected_memory_is_found_by_its_new_words_and_embedded_again(mira: Companion, say: Say) -> None:
    (memory,) = say(mira, "I live in Bonn.")
    embed_all()
    correct(memory, "I live in Kiel.", DAY)
    memory.refresh_from_db()
    assert (memory.text, memory.edited_at) == ("I live in Kiel.", DAY)
    terms = PackedIndex.unpack(bytes(memory.entry)).terms
    assert hash_term("kiel") in terms
    assert hash_term("bonn") not in terms
    assert waiting(mira.pk) == 1


@pytest.mark.django_db(transaction=True)
def test_a_memory_corrected_while_it_is_embedded_is_embedded_again(
    mira: Companion, say: Say, embedding_server: EmbeddingServer
) -> None:
    (memory,) = say(mira, "I live in Bonn.")

    def meanwhile() -> None:
        embedding_server.meanwhile = lambda: None
        correct(Memory.objects.get(pk=memory.pk), "I live in Kiel.", DAY)
        connection.close()

    embedding_server.meanwhile = meanwhile
    assert embed_waiting(mira.pk) == 1
    assert memory.embeddings.count() == 1
    assert embedding_server.asked == ["I live in Bonn.", "I live in Kiel."]


@pytest.mark.django_db(transaction=True)
def test_a_memory_deleted_while_it_is_embedded_stays_deleted(
    mira: Companion, say: Say, embedding_server: EmbeddingServer
) -> None:
    gone, kept = say(mira, "I live in Bonn.", "I like tea.")

    def meanwhile() -> None:
        Memory.objects.filter(pk=gone.pk).delete()
        connection.close()

    embedding_server.meanwhile = meanwhile
    assert embed_waiting(mira.pk) == 1
    assert list(Embedding.objects.values_list("memory", flat=True)) == [kept.pk]


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_held_while_a_model_works(
    mira: Companion, say: Say, embedding_server: EmbeddingServer
) -> None:
    say(mira, "I live in Bonn.")
    held: list[int] = []

    def meanwhile() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND state LIKE 'idle in transaction%%'"
            )
            held.append(cursor.fetchone()[0])
        connection.close()

    embedding_server.meanwhile = meanwhile
    embed_waiting(mira.pk)
    assert held == [0]


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_meets_another_goes_on_elsewhere(
    mira: Companion, many: list[Memory], embedding_server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would take the same batches from there on, and embed all that is left twice."""
    by_id = sorted(many, key=lambda memory: memory.pk)
    starts = iter([UUID(int=0), UUID(int=0), by_id[100].pk])
    monkeypatch.setattr(backlog, "uuid4", lambda: next(starts))

    def let_another_do_the_same() -> None:
        embedding_server.meanwhile = lambda: None
        embed_waiting(mira.pk, limit=backlog.BATCH)
        connection.close()

    embedding_server.meanwhile = let_another_do_the_same
    assert embed_waiting(mira.pk) == len(many) - backlog.BATCH
    asked = [body["input"] for body in embedding_server.bodies if len(body["input"]) > 1]
    assert asked[0] == asked[1]
    assert sorted(asked[2]) == sorted(memory.text for memory in by_id[101:])


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_do_no_harm(alice: User, say: Say, embedding_server: EmbeddingServer) -> None:
    companion = make_companion(alice)
    say(companion, *(f"Walk number {number}." for number in range(300)))
    find_serving_space()
    errors: list[Exception] = []

    def work() -> None:
        try:
            embed_all()
        except Exception as error:  # noqa: BLE001 (the thread's failure is the test's)
            errors.append(error)
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert errors == []
    assert Embedding.objects.count() == 300
    assert waiting(companion.pk) == 0


@pytest.fixture
def _no_broker(settings: Any) -> Iterator[None]:
    """Celery's broker lies where nobody listens."""

    def reconnect(url: str) -> None:
        app.conf.broker_url = url
        app._pool = app.amqp._producer_pool = None

    reconnect("redis://127.0.0.1:1/0")
    yield
    reconnect(settings.CELERY_BROKER_URL)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_no_broker")
def test_saying_goes_on_while_the_broker_is_down(mira: Companion, say: Say, caplog: Any) -> None:
    (memory,) = say(mira, "I live in Bonn.")
    assert Memory.objects.filter(pk=memory.pk).exists()
    background.SENDER.submit(lambda: None).result()  # all before it have been sent, or not
    assert "not_enqueued" in caplog.text


def test_the_tasks_do_what_is_left(mira: Companion, tian: Companion, say: Say) -> None:
    say(mira, "One.")
    say(tian, "Zwei.")
    tasks.embed_companion(str(mira.pk))
    assert (waiting(mira.pk), waiting(tian.pk)) == (0, 1)
    tasks.embed_waiting()
    assert waiting(tian.pk) == 0


def test_a_long_backlog_of_one_lets_the_others_have_their_turn(
    mira: Companion, tian: Companion, say: Say, embedding_server: EmbeddingServer
) -> None:
    for companion in (mira, tian):
        say(companion, *(f"Walk number {number} of {companion.name}." for number in range(2 * backlog.ROUND)))
    backlog.embed_in_turn(seconds=60)
    assert (waiting(mira.pk), waiting(tian.pk)) == (0, 0)
    asked = [text for text in embedding_server.asked if text.startswith("Walk")]
    turns = [asked[start : start + backlog.ROUND] for start in (0, backlog.ROUND)]
    names = [{text.split()[-1] for text in turn} for turn in turns]
    assert len(names[0]) == len(names[1]) == 1
    assert names[0] != names[1]


def test_a_run_that_has_used_its_time_leaves_the_rest_to_the_next(
    mira: Companion, many: list[Memory], embedding_server: EmbeddingServer
) -> None:
    backlog.embed_in_turn(seconds=0)
    left = waiting(mira.pk)
    assert len(many) - backlog.BATCH <= left < len(many)
    assert embed_waiting(mira.pk, ends_at=0.0) > 0
    assert 0 < waiting(mira.pk) < left


def test_two_nudges_for_one_companion_do_not_take_two_threads(mira: Companion, say: Say) -> None:
    say(mira, "One.")
    with tasks.NUDGED.take(str(mira.pk)) as is_free:
        assert is_free
        tasks.embed_companion(str(mira.pk))
        assert waiting(mira.pk) == 1
    tasks.embed_companion(str(mira.pk))
    assert waiting(mira.pk) == 0


def test_a_nudge_that_comes_while_its_companion_is_at_work_is_enqueued_once_more(
    mira: Companion, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is said once the run has looked for the last time must not wait for the next sweep."""
    say(mira, "One.")
    nudged: list[str] = []
    monkeypatch.setattr(tasks.embed_companion, "delay", nudged.append)

    def say_more() -> None:
        say(mira, "Two.")
        for _ in range(2):
            tasks.embed_companion(str(mira.pk))

    monkeypatch.setattr(backlog, "measure_everyday", say_more)
    tasks.embed_companion(str(mira.pk))
    assert (waiting(mira.pk), nudged) == (1, [str(mira.pk)])

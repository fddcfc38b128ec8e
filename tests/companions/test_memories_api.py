"""Memories through the API: seen, searched, corrected, pinned, deleted."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from pytest_django import DjangoAssertNumQueries

from companions.models import Companion, Message, Prompt
from memory.models import Memory, Recall
from tests.fixtures.embedding import embed_all
from tests.fixtures.rest import Api, problem

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]

DOCUMENT = {"title": "Tea", "text": "How to make it."}


@pytest.fixture
def path(mira: Companion) -> str:
    return f"/companions/{mira.pk}"


def add(api: Api, path: str, text: str, **fields: object) -> dict:
    response = api.post(f"{path}/memories", {"text": text, **fields})
    assert response.status_code == 201, response.content
    return response.json()


def log(*texts: str) -> dict:
    lines = [
        {
            "client_id": f"m{n}",
            "role": ("user", "assistant")[n % 2],
            "text": text,
            "at": f"2024-05-0{n + 1}T10:00:00Z",
        }
        for n, text in enumerate(texts)
    ]
    return {"messages": lines}


def test_a_fact_is_added_corrected_pinned_and_listed(as_alice: Api, path: str) -> None:
    fact = add(as_alice, path, "Alice is allergic to walnuts.", happened_at="2024-02-03T10:00:00+01:00")
    assert (fact["kind"], fact["sources"], fact["is_pinned"]) == ("fact", [], False)
    changed = as_alice.call(
        "PATCH", f"{path}/memories/{fact['id']}", {"text": "Alice is allergic to peanuts.", "is_pinned": True}
    )
    assert changed.json() | {"text": "Alice is allergic to peanuts.", "is_pinned": True} == changed.json()
    listed = as_alice.get(f"{path}/memories").json()
    assert [one["text"] for one in listed["items"]] == ["Alice is allergic to peanuts."]


@pytest.mark.parametrize(
    ("what", "body"),
    [("memories", {"text": "Tea."}), ("timers", {"schedule": "1d"}), ("documents", DOCUMENT)],
)
def test_a_key_belongs_to_one_companion(as_alice: Api, path: str, what: str, body: dict) -> None:
    other, key = as_alice.post("/companions", {"name": "Juno"}).json()["id"], {"Idempotency-Key": "1"}
    places = (path, f"/companions/{other}", path)
    made = [as_alice.post(f"{place}/{what}", body, **key).json()["id"] for place in places]
    assert made[0] == made[2] != made[1]


def test_the_list_asks_a_fixed_number_of_queries(
    as_alice: Api, path: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    as_alice.post(f"{path}/import/log", log(*[f"Message {n}" for n in range(9)]))
    with django_assert_num_queries(4):  # whose token, whose companion, one page with messages, their sources
        listed = as_alice.get(f"{path}/memories?limit=5").json()
    assert len(listed["items"]) == 5
    rest = as_alice.get(f"{path}/memories?limit=5&cursor={listed['next']}").json()
    assert [one["text"] for one in listed["items"] + rest["items"]] == [
        f"Message {n}" for n in range(8, -1, -1)
    ]


def test_recall_gives_the_best_first_with_reasons_and_sources(as_alice: Api, path: str) -> None:
    as_alice.post(
        f"{path}/import/log", log("My cat is called Biscuit.", "A lovely name.", "It rained all day.")
    )
    (best, *_) = as_alice.post(f"{path}/recall", {"cue": "What is my cat called?", "limit": 3}).json()[
        "results"
    ]
    assert best["text"] == "My cat is called Biscuit."
    assert best["sources"][0]["client_id"] == "m0"
    assert best["score"] > 0
    assert best["reasons"]
    recall = Recall.objects.get()
    assert (recall.by, recall.cue, recall.reply_id) == ("api", "What is my cat called?", None)


def test_recall_as_of_a_day_knows_nothing_later(as_alice: Api, path: str) -> None:
    as_alice.post(f"{path}/import/log", log("I live in Porto.", "Nice.", "I live in Lisbon now."))
    body = {"cue": "Where do I live?", "as_of": "2024-05-02T00:00:00Z"}
    texts = [one["text"] for one in as_alice.post(f"{path}/recall", body).json()["results"]]
    assert "I live in Porto." in texts
    assert "I live in Lisbon now." not in texts


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"cue": ""},
        {"cue": "x" * 32_001},
        {"cue": "x", "limit": 0},
        {"cue": "x", "limit": 101},
        {"cue": "\x00"},
    ],
    ids=lambda b: str(b)[:30],
)
def test_a_bad_recall_is_refused(as_alice: Api, path: str, body: dict) -> None:
    problem(as_alice.post(f"{path}/recall", body), 422, "not_valid")


def test_deleting_a_memory_hides_its_message_from_prompts(as_alice: Api, mira: Companion, path: str) -> None:
    as_alice.post(f"{path}/import/log", log("My pin is blue.", "Noted."))
    memory = Memory.objects.get(text="My pin is blue.")
    assert as_alice.call("DELETE", f"{path}/memories/{memory.pk}").status_code == 204
    problem(as_alice.get(f"{path}/memories/{memory.pk}"), 404, "not_found")
    assert Message.objects.get(text="My pin is blue.").is_hidden


def test_deleting_with_the_message_deletes_both(as_alice: Api, mira: Companion, path: str) -> None:
    as_alice.post(f"{path}/import/log", log("My pin is blue.", "Noted."))
    memory = Memory.objects.get(text="My pin is blue.")
    assert as_alice.call("DELETE", f"{path}/memories/{memory.pk}?with_message=true").status_code == 204
    assert not Message.objects.filter(text="My pin is blue.").exists()
    assert [one["text"] for one in as_alice.get(f"{path}/messages").json()["items"]] == ["Noted."]


def test_an_imported_log_keeps_its_dates_and_is_recallable(as_alice: Api, mira: Companion, path: str) -> None:
    job = as_alice.post(f"{path}/import/log", log("I bought a kayak.", "Where will you go?"))
    assert job.status_code == 202
    assert job.json()["job"]["total"] == 2
    memory = Memory.objects.get(text="I bought a kayak.")
    assert memory.happened_at == datetime(2024, 5, 1, 10, tzinfo=UTC)
    from memory.embedding import embed_waiting

    embed_waiting(mira.pk)
    progress = as_alice.get(f"{path}/jobs/{job.json()['job']['id']}").json()["job"]
    assert (progress["state"], progress["done"], progress["total"]) == ("done", 2, 2)


def test_the_same_log_again_adds_nothing(as_alice: Api, path: str) -> None:
    as_alice.post(f"{path}/import/log", log("One", "Two"))
    again = as_alice.post(f"{path}/import/log", log("One", "Two", "Three"))
    assert again.json()["job"]["total"] == 1
    assert [one["text"] for one in as_alice.get(f"{path}/messages").json()["items"]] == [
        "Three",
        "Two",
        "One",
    ]
    problem(as_alice.post(f"{path}/import/log", log("Changed")), 409, "client_id_taken")


GOOD = {"role": "user", "text": "Hello", "at": "2024-05-01T10:00:00Z"}


@pytest.mark.parametrize(
    "line",
    [
        {**GOOD, "at": "2024-05-01T10:00:00"},
        {**GOOD, "at": "yesterday"},
        {**GOOD, "at": "2024-13-41T10:00:00Z"},
        {**GOOD, "role": "narrator"},
        {**GOOD, "role": "system"},
        {**GOOD, "text": ""},
        {**GOOD, "text": "a\x00b"},
        {**GOOD, "text": "x" * 32_001},
        {"role": "user", "text": "no date"},
        "a line",
    ],
    ids=lambda line: str(line)[:60],
)
def test_a_log_with_one_bad_line_is_refused_whole(
    as_alice: Api, mira: Companion, path: str, line: object
) -> None:
    problem(as_alice.post(f"{path}/import/log", {"messages": [GOOD, line]}), 422, "not_valid")
    assert not Message.objects.exists()


def test_too_many_lines_and_twins_are_refused(as_alice: Api, mira: Companion, path: str) -> None:
    problem(as_alice.post(f"{path}/import/log", {"messages": [GOOD] * 10_001}), 422, "not_valid")
    twins = [{**GOOD, "client_id": "same"}, {**GOOD, "client_id": "same"}]
    problem(as_alice.post(f"{path}/import/log", {"messages": twins}), 422, "client_id_twice")
    assert not Message.objects.exists()


def test_a_log_over_twenty_megabytes_is_refused(as_alice: Api, mira: Companion, path: str) -> None:
    line = {**GOOD, "text": "x" * 31_000}
    response = as_alice.post(f"{path}/import/log", {"messages": [line] * 700})
    problem(response, 413, "too_large")
    assert not Message.objects.exists()


def test_jobs_of_another_companion_do_not_exist_here(as_alice: Api, path: str) -> None:
    problem(as_alice.get(f"{path}/jobs/{uuid4()}"), 404, "not_found")


def test_closing_ends_the_session(as_alice: Api, mira: Companion, path: str) -> None:
    assert as_alice.post(f"{path}/close").json()["job"]["state"] == "done"
    assert not mira.sessions.filter(ended_at=None).exists()


def test_no_prompt_survives_the_deletion_of_what_it_showed(as_alice: Api, mira: Companion, path: str) -> None:
    from django.utils import timezone

    from companions.replies.lifecycle import start

    started = start(mira, "A secret.", None, timezone.now())
    memory = Memory.objects.get(message=started.message)
    Prompt.objects.create(
        companion=mira, reply=started.reply, messages=[], shown=[memory.pk], created_at=timezone.now()
    )
    as_alice.call("DELETE", f"{path}/memories/{memory.pk}")
    assert not Prompt.objects.exists()


def test_how_important_a_memory_is_can_be_said(as_alice: Api, path: str) -> None:
    fact = add(as_alice, path, "Alice is allergic to walnuts.")
    assert {
        name: fact[name] for name in ("importance", "joy", "aversion", "times_recalled", "recalled_at")
    } == {
        "importance": 5,
        "joy": 0,
        "aversion": 0,
        "times_recalled": 0,
        "recalled_at": None,
    }
    mine = f"{path}/memories/{fact['id']}"
    assert as_alice.call("PATCH", mine, {"importance": 10}).json() == {**fact, "importance": 10}
    for wrong in (0, 11, -1, 5.5, "much"):
        problem(as_alice.call("PATCH", mine, {"importance": wrong}), 422, "not_valid")
    assert as_alice.get(mine).json()["importance"] == 10
    (found,) = as_alice.post(f"{path}/recall", {"cue": "walnuts"}).json()["results"]
    assert found["reasons"]["factors"]["importance"] == 1.1
    assert found["why"].endswith("words in common: walnuts; important")


def test_the_policy_decides_what_comes_first(as_alice: Api, path: str) -> None:

    as_alice.post(
        f"{path}/import/log",
        log("I adopted a kitten.", "How sweet!", "The lighthouse keeper sold his old boat.", "Did he?"),
    )
    boat = add(as_alice, path, "The boat and the kitten are both called Minka.")
    as_alice.call("PATCH", f"{path}/memories/{boat['id']}", {"importance": 10})
    embed_all()
    orders = []
    for policy in ("kith", "likeness", "generative_agents"):
        as_alice.call("PATCH", path, {"recall_policy": policy})
        results = as_alice.post(f"{path}/recall", {"cue": "a young cat"}).json()["results"]
        orders.append([one["text"] for one in results])
        scores = [one["score"] for one in results]
        assert scores == sorted(scores, reverse=True)
    assert len({tuple(order) for order in orders}) > 1
    assert orders[1][0] == "I adopted a kitten."
    assert [recall.policy for recall in Recall.objects.order_by("at")] == [
        "kith",
        "likeness",
        "generative_agents",
    ]

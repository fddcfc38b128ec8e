"""Asking memory through the API: filters, pages, news; and what cannot be asked."""

from typing import Any
from urllib.parse import urlencode

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from companions.models import Companion, Message
from memory.embedding import embed_waiting
from memory.models import Recall, Recalled
from tests.fixtures.people import make_alice
from tests.fixtures.rest import Api, problem
from tests.fixtures.spaces import read_providers
from tests.fixtures.turns import make_companion

pytestmark = pytest.mark.django_db
LOG = ["Green tea?", "Black tea!", "Mint tea."]


@pytest.fixture(scope="module")
def alice(module_rows: None) -> User:
    return make_alice()


@pytest.fixture(scope="module")
def mira(alice: User) -> Companion:
    return make_companion(alice)


@pytest.fixture(scope="module")
def path(alice: User, mira: Companion) -> str:
    """Where Mira is, who was told of tea on three days and was given a fact: once for all these tests."""
    as_alice = Api(alice)
    path = f"/companions/{mira.pk}"
    lines = [
        {
            "role": ("user", "assistant")[n % 2],
            "text": text,
            "at": f"2024-05-0{n + 1}T10:00:00Z",
            "client_id": str(n),
        }
        for n, text in enumerate(LOG)
    ]
    as_alice.post(f"{path}/import/log", {"messages": lines})
    as_alice.post(f"{path}/memories", {"text": "Tea at four.", "happened_at": "2024-05-04T10:00:00Z"})
    return path


def texts(response: Any) -> list[str]:
    body = response.json()
    return [one["text"] for one in body.get("results", body.get("items"))]


FILTERS = [
    ({"since": "2024-05-02T10:00:00Z"}, ["Black tea!", "Mint tea.", "Tea at four."]),
    ({"until": "2024-05-02T10:00:00Z"}, ["Green tea?"]),
    ({"since": "2024-05-02T00:00:00+02:00", "until": "2024-05-03T10:00:00Z"}, ["Black tea!"]),
    ({"speaker": "user"}, ["Green tea?", "Mint tea."]),
    ({"speaker": "companion"}, ["Black tea!"]),
    ({"as_of": "2024-05-02T10:00:00Z"}, ["Black tea!", "Green tea?"]),
    ({"as_of": "2024-05-01T10:00:00Z", "speaker": "companion"}, []),
]


@pytest.mark.parametrize(("asked", "found"), FILTERS, ids=str)
def test_lists_and_recalls_are_filtered_alike(
    as_alice: Api, path: str, asked: dict[str, str], found: list[str]
) -> None:
    assert sorted(texts(as_alice.get(f"{path}/memories?{urlencode(asked)}"))) == found
    assert sorted(texts(as_alice.post(f"{path}/recall", {"cue": "tea", **asked}))) == found


def test_kinds_and_messages_are_told_apart(as_alice: Api, path: str) -> None:
    assert texts(as_alice.get(f"{path}/memories?kind=fact")) == ["Tea at four."]
    assert texts(as_alice.post(f"{path}/recall", {"cue": "tea", "kinds": ["fact"]})) == ["Tea at four."]
    assert len(texts(as_alice.post(f"{path}/recall", {"cue": "tea", "kinds": ["fact", "said"]}))) == 4
    ids = [str(Message.objects.get(text=text).pk) for text in LOG[:2]]
    both = sorted(LOG[:2])
    assert sorted(texts(as_alice.post(f"{path}/recall", {"cue": "tea", "message_ids": ids}))) == both
    query = urlencode({"message_ids": ids}, doseq=True)
    assert sorted(texts(as_alice.get(f"{path}/memories?{query}"))) == both
    assert (
        texts(
            as_alice.post(
                f"{path}/recall", {"cue": "tea", "message_ids": ["6f1c2f5e-8f0c-4f3a-9a39-0a51a1a1c0de"]}
            )
        )
        == []
    )


def test_a_recall_comes_page_by_page(as_alice: Api, path: str) -> None:
    body = {"cue": "tea", "as_of": "2024-06-01T00:00:00Z"}
    whole = texts(as_alice.post(f"{path}/recall", body))
    pages = [texts(as_alice.post(f"{path}/recall", {**body, "limit": 3, "offset": n})) for n in (0, 3, 6)]
    assert pages == [whole[:3], whole[3:], []]
    last = Recall.objects.filter(found__rank=4).exclude(found__rank=1).get()
    assert list(Recalled.objects.filter(recall=last).values_list("rank", flat=True)) == [4]


@pytest.mark.parametrize(
    "body",
    [
        {"limit": 0},
        {"limit": -1},
        {"limit": 1_000_000},
        {"limit": "ten"},
        {"offset": -1},
        {"offset": 101},
        {"offset": 1_000_000},
        {"since": "2024-05-03T00:00:00Z", "until": "2024-05-02T00:00:00Z"},
        {"since": "2024-02-30T00:00:00Z"},
        {"until": "30 February"},
        {"as_of": "2023-02-29T12:00:00Z"},
        {"as_of": "2024-05-02T00:00:00"},
        {"since": "0001-01-01T00:00:00Z"},
        {"until": "9999-12-31T23:59:59Z"},
        {"until": 1767225600},
        {"since": "20261130"},
        {"kinds": ["gossip"]},
        {"kinds": "fact"},
        {"speaker": "assistant"},
        {"message_ids": ["7"]},
        {"message_ids": ["6f1c2f5e-8f0c-4f3a-9a39-0a51a1a1c0de"] * 101},
        {"cue": ""},
        {"cue": " \n "},
        {"cue": "x" * 100_000},
        {"cue": "\ud800".encode("utf-16", "surrogatepass").decode("latin-1") + "\x00"},
    ],
    ids=lambda body: str(body)[:60],
)
def test_what_cannot_be_recalled_is_said_clearly(as_alice: Api, path: str, body: dict[str, Any]) -> None:
    details = problem(as_alice.post(f"{path}/recall", {"cue": "tea", **body}), 422, "not_valid")
    assert next(iter(body)) in details["detail"] or "since lies after until" in details["detail"]
    assert not Recall.objects.exists()


def test_a_long_text_is_told_in_characters(as_alice: Api, path: str) -> None:
    details = problem(
        as_alice.post(f"{path}/memories/news", {"observations": ["x" * 8_001]}), 422, "not_valid"
    )
    what = "Value should have at most 8000 characters, not 8001"
    assert details["errors"] == [{"where": "body.observations.0", "what": what}]


def test_times_in_the_wrong_order_are_told_by_the_name_of_the_parameter(as_alice: Api, path: str) -> None:
    query = {"since": "2024-05-03T00:00:00Z", "until": "2024-05-02T00:00:00Z"}
    for place, response in (
        ("query.until", as_alice.get(f"{path}/memories?{urlencode(query)}")),
        ("body.until", as_alice.post(f"{path}/recall", {"cue": "tea"} | query)),
    ):
        errors = problem(response, 422, "not_valid")["errors"]
        assert errors == [{"where": place, "what": "lies before since"}]


@pytest.mark.parametrize(
    "query",
    [
        "since=2024-02-30T00:00:00Z",
        "until=tomorrow",
        "as_of=2024-05-02",
        "speaker=assistant",
        "kind=gossip",
        "message_ids=7",
        "since=2024-05-03T00:00:00Z&until=2024-05-02T00:00:00Z",
        "limit=0",
        "limit=-1",
        "limit=1000000",
    ],
)
def test_what_cannot_be_listed_is_said_clearly(as_alice: Api, path: str, query: str) -> None:
    problem(as_alice.get(f"{path}/memories?{query}"), 422, "not_valid")


@pytest.mark.parametrize(
    "cue",
    [
        "🎉🎉",
        "tea'; DROP TABLE memory_memory; --",
        "tea & !milk | (a <-> b):*",
        "ฉันชอบชา",
        "我喜欢喝茶",
        "茶を飲みます",
        "the of and",
    ],
)
def test_any_words_may_be_a_cue(as_alice: Api, path: str, cue: str) -> None:
    assert as_alice.post(f"{path}/recall", {"cue": cue}).status_code == 200
    assert len(texts(as_alice.get(f"{path}/memories"))) == 4


def test_a_filtered_list_goes_on_where_its_page_ended(as_alice: Api, path: str) -> None:
    first = as_alice.get(f"{path}/memories?speaker=user&limit=1").json()
    rest = as_alice.get(f"{path}/memories?speaker=user&limit=1&cursor={first['next']}").json()
    assert [one["text"] for one in first["items"] + rest["items"]] == ["Mint tea.", "Green tea?"]
    assert rest["next"] is None


def test_news_are_told_from_what_is_known(as_alice: Api, mira: Companion, path: str) -> None:
    as_alice.post(f"{path}/memories", {"text": "I am allergic to walnuts."})
    embed_waiting(mira.pk)
    asked = ["The boat leaks.", "Tea at four.", "I'm allergic to walnuts!", "Ida plays the cello."]
    news = as_alice.post(f"{path}/memories/news", {"observations": asked}).json()
    assert news["new"] == ["The boat leaks.", "Ida plays the cello."]
    assert [(one["observation"], one["memory"]["text"]) for one in news["known"]] == [
        ("Tea at four.", "Tea at four."),
        ("I'm allergic to walnuts!", "I am allergic to walnuts."),
    ]
    assert news["known"][0]["likeness"] == 1
    assert news["by_meaning"]
    assert not Recall.objects.exists()


def test_news_come_with_the_messages_they_were_known_from(as_alice: Api, path: str) -> None:
    news = as_alice.post(f"{path}/memories/news", {"observations": ["Mint tea."]}).json()
    assert news["known"][0]["memory"]["sources"][0]["client_id"] == "2"


def test_asking_for_news_takes_a_fixed_number_of_queries(
    as_alice: Api, mira: Companion, path: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    as_alice.post(f"{path}/memories", {"text": "I am allergic to walnuts."})
    embed_waiting(mira.pk)
    body = {"observations": ["I'm allergic to walnuts!", *(f"The boat leaks {'i' * n}." for n in range(60))]}
    as_alice.post(f"{path}/memories/news", body)  # the space is known from then on
    read_providers()
    # Token, companion, equal, nearest, these, messages, sources.
    with django_assert_num_queries(7, exact=False):
        assert as_alice.post(f"{path}/memories/news", body).json()["known"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"observations": "tea"},
        {"observations": [""]},
        {"observations": ["tea", " "]},
        {"observations": ["\x00"]},
        {"observations": ["x" * 8_001]},
        {"observations": ["tea"] * 101},
        {"observations": ["tea"], "threshold": 1.01},
        {"observations": ["tea"], "threshold": -0.1},
        {"observations": ["tea"], "threshold": "alike"},
        b'{"observations": ["tea"], "threshold": NaN}',
    ],
    ids=lambda body: str(body)[:50],
)
def test_what_are_no_observations_is_said_clearly(as_alice: Api, path: str, body: object) -> None:
    response = as_alice.post(f"{path}/memories/news", body)
    assert response.status_code in (400, 422)
    assert response.json()["code"] in ("not_valid", "bad_request")


def test_no_observations_no_news(as_alice: Api, path: str) -> None:
    news = as_alice.post(f"{path}/memories/news", {"observations": []}).json()
    assert (news["new"], news["known"]) == ([], [])

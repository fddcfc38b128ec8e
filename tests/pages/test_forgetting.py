"""The page of forgetting and feeling: it shows what would be and writes nothing, until a rule is saved."""

import hashlib
import html
import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import ModelCall, User
from companions.models import Companion
from memory.models import Memory, Recall, Recalled
from memory.scoring.policies import Hou
from memory.scoring.policy import Kith
from memory.store import keep_fact
from tests.pages.conftest import Told

pytestmark = pytest.mark.usefixtures("module_mira")
SHOWN = {"HX-Request": "true", "HX-Target": "forgetting-shown"}
WHOLE = {"HX-Request": "true", "HX-Target": "forgetting"}


def path(companion: Companion) -> str:
    return f"/companions/{companion.pk}/forgetting/"


def used(memory: Memory, *days_ago: float) -> None:
    """The memory was given to replies so long ago, and counts."""
    times = [timezone.now() - timedelta(days=days) for days in days_ago]
    given = {"companion_id": memory.companion_id, "by": "turn", "milliseconds": 1}
    made = Recall.objects.bulk_create(Recall(at=at, **given) for at in times)
    Recalled.objects.bulk_create(
        Recalled(recall=recall, memory=memory, rank=1, score=1, reasons={}, is_used=True) for recall in made
    )
    Memory.objects.filter(pk=memory.pk).update(times_recalled=len(times), recalled_at=times[-1])


@pytest.fixture
def aged(mira: Companion) -> list[Memory]:
    """Facts of growing age: the oldest was recalled often, the youngest never."""
    now = timezone.now()
    ages = (1, 20, 60, 300)
    facts = [
        keep_fact(mira.pk, f"Fact of {age} days", now - timedelta(days=age), now - timedelta(days=age))
        for age in ages
    ]
    for fact, times in zip(facts[1:], (1, 5, 40), strict=True):
        used(fact, *(2 + n * 0.1 for n in range(times)))
    return facts


def digest() -> str:
    """Of every row of every table, but for sessions and the record of what embedders were asked, which is a bill."""
    tables = sorted(
        model._meta.db_table
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy and model not in (Session, ModelCall)
    )
    rows = " UNION ALL ".join(f"SELECT '{table}', t::text FROM \"{table}\" t" for table in tables)
    with connection.cursor() as cursor:
        cursor.execute(f"{rows} ORDER BY 1, 2")
        return hashlib.sha256(repr(cursor.fetchall()).encode()).hexdigest()


ASKED: list[dict[str, Any]] = [
    {},
    {"policy": "memory_bank", "memory_bank-unit_days": "10"},
    {"policy": "airi_decay", "airi_decay-decay": "0.2", "airi_decay-long_term_at": "3", "days": "365"},
    {"policy": "hou", "move": "30", "days": "7", "again": "1", "cue": "fact"},
    {"recalls": "3", "again": "1", "undo": "1", "cue": "What was the fact of 60 days?"},
    {"policy": "likeness", "usual": "1", "page": "99"},
]


@pytest.mark.parametrize("asked", ASKED, ids=repr)
@pytest.mark.parametrize("headers", [{}, SHOWN, WHOLE], ids=["page", "shown", "whole"])
def test_looking_writes_nothing(
    at_home: Client, mira: Companion, aged: list[Memory], asked: dict[str, Any], headers: dict[str, str]
) -> None:
    at_home.get(f"/companions/{mira.pk}/memories/", {"q": "fact"})  # the first cue of all makes the space
    before = digest()
    for memory in (None, aged[2]):
        more = {"memory": str(memory.pk)} if memory else {}
        assert at_home.get(path(mira), {**asked, **more}, headers=headers).status_code == 200
    assert digest() == before


def test_a_digest_sees_any_write(mira: Companion, aged: list[Memory]) -> None:
    before = digest()
    Memory.objects.filter(pk=aged[0].pk).update(joy=0.1)
    assert digest() != before


def test_the_page_costs_the_same_for_few_and_for_many(
    at_home: Client, mira: Companion, aged: list[Memory], django_assert_num_queries: Any
) -> None:
    asked = {"policy": "hou", "days": "30", "memory": str(aged[0].pk), "again": "1"}
    for _ in range(2):
        with django_assert_num_queries(5):  # session, user, companion, memories, days
            assert at_home.get(path(mira), asked).status_code == 200
        with django_assert_num_queries(4):
            assert at_home.get(path(mira), asked, headers=SHOWN).status_code == 200
        for number in range(50):
            used(keep_fact(mira.pk, f"fact {number}", timezone.now(), timezone.now()), 1)


def test_memories_stand_by_strength_with_their_depths(
    at_home: Client, mira: Companion, aged: list[Memory]
) -> None:
    response = at_home.get(path(mira), {"policy": "memory_bank"})
    lines = response.context["shown"].page
    assert [line["strength"].life.text for line in lines] == [
        "Fact of 300 days",
        "Fact of 60 days",
        "Fact of 20 days",
        "Fact of 1 days",
    ]
    assert [str(line["depth"]) for line in lines] == ["second nature", "long-term", "working", "short-term"]
    page = response.content.decode()
    assert "recalled 40 times" in page
    assert "never recalled" in page


def test_pages_leave_nothing_out(at_home: Client, mira: Companion) -> None:
    for number in range(45):
        keep_fact(mira.pk, f"fact {number}", timezone.now(), timezone.now())
    found = []
    for page in ("1", "2", "3", "4"):
        shown = at_home.get(path(mira), {"page": page}, headers=SHOWN).context["shown"]
        found += [line["strength"].life.text for line in shown.page][: 0 if page == "4" else None]
    assert sorted(found) == sorted(f"fact {number}" for number in range(45))


def test_time_moves_forward_and_back(at_home: Client, mira: Companion, aged: list[Memory]) -> None:
    response = at_home.get(path(mira), {"days": "7", "move": "30", "memory": str(aged[0].pk)})
    assert response.context["shown"].asked["days"] == 37
    later = response.context["shown"].strength.left
    now = at_home.get(path(mira), {"days": "7", "move": "-1095", "memory": str(aged[0].pk)}).context["shown"]
    assert (now.asked["days"], now.strength.left > later > 0) == (0, True)
    assert at_home.get(path(mira), {"days": "1095", "move": "365"}).context["shown"].asked["days"] == 1095


def test_recalls_in_thought_add_up_and_are_taken_back(
    at_home: Client, mira: Companion, aged: list[Memory]
) -> None:
    asked = {"policy": "airi_decay", "memory": str(aged[1].pk), "days": "10"}
    left = []
    for recalls in ("", "1", "2"):
        response = at_home.get(path(mira), {**asked, "recalls": recalls, "again": "1"})
        shown = response.context["shown"]
        left.append(shown.strength.left)
    assert shown.asked["recalls"] == 3
    assert left == sorted(left)
    assert shown.strength.recalls == 4
    assert shown.chart["again"]
    assert "recalls nothing, and nothing is saved" in response.content.decode()
    undone = at_home.get(path(mira), {**asked, "recalls": "3", "undo": "1"}).context["shown"]
    assert undone.strength.recalls == 3
    most = at_home.get(path(mira), {**asked, "recalls": "50", "again": "1"}).context["shown"]
    assert most.asked["recalls"] == 50


def test_another_rule_is_shown_beside_the_present_one(
    at_home: Client, mira: Companion, aged: list[Memory]
) -> None:
    page = at_home.get(path(mira)).content.decode()
    assert 'id="save"' not in page
    response = at_home.get(path(mira), {"policy": "airi_chat"}, headers=SHOWN)
    shown = response.context["shown"]
    assert shown.is_other
    assert next(line["strength"].life.text for line in shown.page) == "Fact of 1 days"
    rises = {line["strength"].life.text: line["rises"] for line in shown.page}
    assert sum(rises.values()) == 0
    assert rises["Fact of 300 days"] < 0 < rises["Fact of 20 days"]
    assert shown.moved == (sum(n > 0 for n in rises.values()), sum(n < 0 for n in rises.values()))
    page = response.content.decode()
    assert 'id="save"' in page
    assert "Leave as is" in page
    again = at_home.get(path(mira), {"policy": "kith", "kith-month_days": "30"}).context["shown"]
    assert not again.is_other


def test_what_a_cue_would_bring_to_mind_under_both(at_home: Client, told: Told) -> None:
    now = timezone.now()
    keep_fact(told.companion.pk, "Statistics was easy last year", now, now - timedelta(days=400))
    asked = {"cue": "statistics", "kith-recency": "0.1", "kith-retention": "0.1", "kith-month_days": "1"}
    response = at_home.get(path(told.companion), asked, headers=SHOWN)
    shown = response.context["shown"]
    came = [result.memory.text for result in shown.found_before]
    comes = [line["result"].memory.text for line in shown.found]
    assert set(came[:2]) == set(comes[:2]) == {"The exam is statistics", "Statistics was easy last year"}
    assert [line["result"].score for line in shown.found] != [result.score for result in shown.found_before]
    page = response.content.decode()
    assert "Under the current rule" in page
    assert "Under the rule you are trying" in page
    assert not Recall.objects.filter(by="api").exists()


def test_a_rule_is_saved_with_its_numbers_and_only_then(at_home: Client, mira: Companion) -> None:
    kept = {"policy": "hou", "hou-unit_days": "60", "hou-threshold": "0.6"}
    response = at_home.post(path(mira), kept)
    assert response.status_code == 302
    mira.refresh_from_db()
    assert (mira.recall_policy, mira.recall_parameters) == ("hou", {"unit_days": 60})  # the other is as usual
    assert mira.policy == Hou(unit_days=60, threshold=0.6)
    page = at_home.get(path(mira))
    assert not page.context["shown"].is_other
    assert {one["name"]: one["value"] for one in page.context["chosen"].sliders}["hou-unit_days"] == "60"
    usual = at_home.get(path(mira), {"policy": "hou", "usual": "1", "hou-unit_days": "60"})
    assert usual.context["shown"].policy == Hou(unit_days=30, threshold=0.6)
    at_home.post(path(mira), {"policy": "kith"})
    mira.refresh_from_db()
    assert (mira.policy, mira.recall_parameters) == (Kith(), {})


BAD: list[tuple[dict[str, str], str]] = [
    ({"policy": "none such"}, "There is no such rule"),
    ({"policy": "hou", "hou-threshold": "1.5"}, "less than or equal to 1"),
    ({"policy": "hou", "hou-threshold": "nan"}, "Enter a number"),
    ({"policy": "hou", "hou-unit_days": "many"}, "Enter a number"),
    ({"policy": "hou", "hou-unit_days": "1e400"}, "less than or equal|Enter a number"),
    ({"policy": "airi_decay", "airi_decay-long_term_at": "2.5"}, "Enter a whole number"),
    ({"policy": "digital_life", "digital_life-floor": "0.9"}, "do not go together"),
]
BAD_AHEAD: list[tuple[dict[str, str], str]] = [
    ({"days": "-1"}, "greater than or equal to 0"),
    ({"days": "1096"}, "less than or equal to 1095"),
    ({"move": "1e9"}, "Enter a whole number"),
    ({"memory": "x"}, "valid UUID"),
    ({"recalls": "x"}, "Enter a whole number"),
    ({"recalls": "-1"}, "greater than or equal to 0"),
    ({"recalls": "51"}, "less than or equal to 50"),
    ({"page": "0"}, "greater than or equal to 1"),
    ({"cue": "a\x00b"}, "Null characters"),
    ({"cue": "x" * 1001}, "at most 1000"),
]


@pytest.mark.parametrize(("asked", "words"), [*BAD, *BAD_AHEAD], ids=repr)
@pytest.mark.parametrize("headers", [{}, WHOLE], ids=["page", "part"])
def test_what_cannot_be_is_refused_in_words(
    at_home: Client, mira: Companion, asked: dict[str, str], words: str, headers: dict[str, str]
) -> None:
    response = at_home.get(path(mira), asked, headers=headers)
    assert response.status_code == 422
    assert re.search(words, response.content.decode())


@pytest.mark.parametrize(("asked", "words"), BAD, ids=repr)
def test_what_cannot_be_is_not_saved(
    at_home: Client, mira: Companion, asked: dict[str, str], words: str
) -> None:
    before = digest()
    response = at_home.post(path(mira), asked)
    assert response.status_code == 422
    assert re.search(words, response.content.decode())
    assert digest() == before


def test_anothers_companion_and_memory_are_not_there(
    at_home: Client, mira: Companion, tian: Companion, mallory: User
) -> None:
    his = keep_fact(tian.pk, "Bob's own", timezone.now(), timezone.now())
    assert at_home.get(path(tian)).status_code == 404
    assert at_home.post(path(tian), {"policy": "hou"}).status_code == 404
    for id in (his.pk, uuid.uuid4()):
        assert at_home.get(path(mira), {"memory": str(id)}).status_code == 404
    tian.refresh_from_db()
    assert tian.recall_policy == "kith"
    nobody = Client().get(path(mira))
    assert (nobody.status_code, nobody["Location"].split("?")[0]) == (302, "/accounts/login/")


def test_an_empty_page_says_what_there_will_be(at_home: Client, mira: Companion) -> None:
    page = at_home.get(path(mira)).content.decode()
    assert "There is nothing to forget yet" in page
    assert "A memory that is new today" in page


def test_only_real_recalls_are_on_the_map(at_home: Client, mira: Companion, aged: list[Memory]) -> None:
    day_map = at_home.get(path(mira), {"memory": str(aged[0].pk), "recalls": "3"}).context["day_map"]
    assert day_map["total"] == 46
    assert all(bool(day["level"]) == bool(day["count"]) for day in day_map["days"])
    levels = [day["level"] for day in day_map["days"]]
    assert day_map["busiest"]["level"] == max(levels) == 4


def test_links_ask_for_what_is_shown_and_one_thing_more(
    at_home: Client, mira: Companion, aged: list[Memory]
) -> None:
    asked = {"policy": "hou", "hou-unit_days": "9", "days": "7", "move": "1", "again": "1", "cue": "a & b"}
    page = at_home.get(path(mira), asked).content.decode()
    links = re.findall(r'href="(\?[^"]+memory=[^"]+)"', page)
    link = next(link for link in links if str(aged[2].pk) in link)
    shown = at_home.get(path(mira) + html.unescape(link)).context["shown"]
    assert (shown.life.id, shown.asked["recalls"]) == (aged[2].pk, 0)
    assert (shown.asked["days"], shown.asked["cue"]) == (8, "a & b")
    assert shown.policy == Hou(unit_days=9, threshold=0.6)

"""Goals as a tree and ideas by excitement, seen and moved on by the companion's person, without any script."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from accounts.models import User
from companions.memories.goals import MAX_DEPTH
from companions.models import Companion
from memory.goals import begin_goal
from memory.models import Memory, Pursuit
from memory.store import keep_fact

pytestmark = pytest.mark.usefixtures("module_mira")
NOW = timezone.now()


def pursue(companion: Companion, text: str, kind: str = "goal", **fields: Any) -> Pursuit:
    at = NOW + timedelta(minutes=Pursuit.objects.count())
    pursuit = begin_goal(companion.pk, Memory.Kind(kind), text, at, [], companion.user.zone)
    Pursuit.objects.filter(pk=pursuit.pk).update(**fields)
    pursuit.refresh_from_db()
    return pursuit


def page(client: Client, companion: Companion, query: str = "") -> str:
    return client.get(f"/companions/{companion.pk}/pursuits/{query}").content.decode()


def post(client: Client, pursuit: Pursuit, **fields: Any) -> HttpResponse:
    given = {"status": "new", "progress": 0, "excitement": 5, "parent_id": "", **fields}
    response = client.post(f"/companions/{pursuit.companion_id}/pursuits/{pursuit.memory_id}/", given)
    pursuit.refresh_from_db()
    return response  # type: ignore[return-value]


def placed(shown: str) -> list[tuple[str, str]]:
    """The texts in their order, each with how deep it is set in."""
    found = re.findall(r'depth-(\d)".*?class="pursuit-text"[^>]*><a [^>]*>([^<]*)</a>', shown, re.DOTALL)
    return [(text, depth) for depth, text in found]


def test_an_empty_page_says_how_goals_come(at_home: Client, mira: Companion) -> None:
    shown = page(at_home, mira)
    assert "Tell Mira what you would like to do one day" in shown
    assert placed(shown) == []


def test_goals_are_a_tree_and_ideas_stand_by_excitement(at_home: Client, mira: Companion) -> None:
    marathon = pursue(mira, "Run a marathon")
    half = pursue(mira, "Run half of one", parent=marathon.memory)
    pursue(mira, "Buy shoes", parent=half.memory, status="done", progress=100)
    pursue(mira, "Find a trail", parent=half.memory, status="under_way")
    pursue(mira, "Write a book", status="under_way", progress=20)
    pursue(mira, "A pond", "idea", excitement=4)
    pursue(mira, "A garden", "idea", excitement=9)
    pursue(mira, "A moat", "idea", excitement=10, status="given_up")
    shown = page(at_home, mira)
    assert placed(shown) == [
        ("Write a book", "0"),
        ("Run a marathon", "0"),
        ("Run half of one", "1"),
        ("Find a trail", "2"),
        ("Buy shoes", "2"),
        ("A garden", "0"),
        ("A pond", "0"),
        ("A moat", "0"),
    ]
    assert '<progress max="100" value="20" aria-label="Progress on “Write a book”">' in shown
    assert "very keen on it" in shown
    assert "mildly interested" in shown
    assert "Part of “Run half of one”" in shown
    assert shown.count("<progress") == 5  # ideas have none


def test_what_is_a_part_of_its_own_part_is_shown_once(at_home: Client, mira: Companion) -> None:
    one, two = pursue(mira, "One"), pursue(mira, "Two")
    Pursuit.objects.filter(pk=one.pk).update(parent=two.memory)
    Pursuit.objects.filter(pk=two.pk).update(parent=one.memory)
    assert sorted(placed(page(at_home, mira))) == [("One", "0"), ("Two", "0")]


def test_parts_of_parts_are_set_in_so_far_and_no_further(at_home: Client, mira: Companion) -> None:
    given = {"companion": mira, "kind": "goal", "happened_at": NOW, "learnt_at": NOW}
    memories = Memory.objects.bulk_create(Memory(text=f"Step {n}", **given) for n in range(1200))
    Pursuit.objects.bulk_create(
        Pursuit(companion=mira, memory=memory, parent=parent)
        for memory, parent in zip(memories, [None, *memories], strict=False)
    )
    found = placed(page(at_home, mira))
    assert len(found) == 500
    assert found[-1][1] == str(MAX_DEPTH)


def test_what_does_not_hold_any_more_is_not_shown_and_its_parts_stand_alone(
    at_home: Client, mira: Companion
) -> None:
    whole = pursue(mira, "Run a marathon")
    pursue(mira, "Buy shoes", parent=whole.memory)
    Memory.objects.filter(pk=whole.memory_id).update(closed_at=NOW)
    assert placed(page(at_home, mira)) == [("Buy shoes", "0")]


def test_a_form_opens_by_a_link_for_one_alone(at_home: Client, mira: Companion) -> None:
    whole, idea = pursue(mira, "Run a marathon", progress=30), pursue(mira, "A garden", "idea")
    shown = page(at_home, mira)
    assert "<select" not in shown
    assert f'href="?change={whole.memory_id}#pursuit-{whole.memory_id}"' in shown
    opened = page(at_home, mira, f"?change={whole.memory_id}")
    assert opened.count('name="progress"') == 1
    assert 'value="30"' in opened
    assert 'name="parent_id"' in opened
    assert 'name="parent_id"' not in page(at_home, mira, f"?change={idea.memory_id}")
    assert "<select" not in page(at_home, mira, "?change=nothing")


def test_one_moves_on_and_that_is_said(at_home: Client, mira: Companion) -> None:
    whole, part = pursue(mira, "Run a marathon"), pursue(mira, "Buy shoes")
    fields = {"status": "under_way", "progress": 40, "excitement": 9, "parent_id": str(whole.memory_id)}
    response = post(at_home, part, **fields)
    assert response.status_code == 302
    assert response["Location"].endswith(f"/pursuits/#pursuit-{part.memory_id}")
    assert (part.status, part.progress, part.excitement) == ("under_way", 40, 9)
    assert part.parent == whole.memory
    assert "Saved." in page(at_home, mira)
    post(at_home, part, status="done")
    assert (part.status, part.progress, part.parent) == ("done", 100, None)


@pytest.mark.parametrize(
    "fields", [{"progress": 101}, {"progress": ""}, {"excitement": 0}, {"status": "lost"}], ids=str
)
def test_what_cannot_be_comes_back_with_its_error(
    at_home: Client, mira: Companion, fields: dict[str, Any]
) -> None:
    goal = pursue(mira, "Run a marathon")
    response = post(at_home, goal, **fields)
    assert response.status_code == 422
    assert "field-error" in response.content.decode()
    assert (goal.status, goal.progress, goal.excitement) == ("new", 0, 5)


def test_a_goal_is_no_part_of_its_own_part(at_home: Client, mira: Companion) -> None:
    whole = pursue(mira, "Run a marathon")
    part = pursue(mira, "Buy shoes", parent=whole.memory)
    response = post(at_home, whole, parent_id=str(part.memory_id))
    assert (response.status_code, whole.parent) == (422, None)
    assert "or of one of its own parts" in response.content.decode()
    assert post(at_home, whole, parent_id=str(whole.memory_id)).status_code == 422


def test_words_are_shown_as_they_are(at_home: Client, mira: Companion) -> None:
    pursue(mira, "<script>alert(1)</script>")
    shown = page(at_home, mira)
    assert "&lt;script&gt;alert(1)" in shown
    assert "<script>alert" not in shown


def test_anothers_goal_is_not_there(client: Client, mira: Companion, tian: Companion, mallory: User) -> None:
    hers, his = pursue(mira, "Hers"), pursue(tian, "His")
    client.force_login(mallory)
    assert post(client, hers, progress=9).status_code == 404
    client.force_login(tian.user)
    path = f"/companions/{tian.pk}/pursuits/{hers.memory_id}/"
    assert client.post(path, {"status": "new", "progress": 9, "excitement": 5}).status_code == 404
    hers.refresh_from_db()
    assert hers.progress == 0
    assert post(client, his, parent_id=str(hers.memory_id)).status_code == 422


def test_a_page_costs_the_same_for_one_goal_and_for_thirty(
    at_home: Client, mira: Companion, django_assert_num_queries: Any
) -> None:
    first = pursue(mira, "First")
    for n in range(30):
        pursue(mira, f"Part {n}", parent=first.memory)
    page(at_home, mira)
    with django_assert_num_queries(5):  # session, user, companion, pursuits, threads
        page(at_home, mira, f"?change={first.memory_id}")


def test_what_the_person_told_of_wanting_is_shown_as_theirs(at_home: Client, mira: Companion) -> None:
    for kind, text in (("goal", "Alice wants to play the violin."), ("idea", "Alice dreams of a boat.")):
        told = keep_fact(mira.pk, text, NOW, NOW)
        Memory.objects.filter(pk=told.pk).update(kind=kind)
    closed = keep_fact(mira.pk, "Alice wants to ski.", NOW, NOW)
    Memory.objects.filter(pk=closed.pk).update(kind="goal", closed_at=NOW)
    pursue(mira, "Learn chess")
    shown = page(at_home, mira)
    assert "Nothing yet" not in shown
    theirs = shown.partition("What you would like to do")[2]
    assert "Alice wants to play the violin." in theirs
    assert "Alice dreams of a boat." in theirs
    assert "Learn chess" in shown
    assert "Learn chess" not in theirs
    assert "Alice wants to ski." not in shown


def test_a_person_adds_a_goal_and_an_idea_of_their_own(at_home: Client, mira: Companion) -> None:
    path = f"/companions/{mira.pk}/pursuits/"
    for kind in ("goal", "idea"):
        sent = at_home.post(f"{path}add/", {"kind": kind, "text": f"My {kind} <b>"})
        assert sent["Location"].startswith(f"{path}#pursuit-")
    assert set(Pursuit.objects.values_list("origin", flat=True)) == {Pursuit.Origin.PERSON}
    shown = page(at_home, mira)
    assert shown.index("My goal &lt;b&gt;") < shown.index("My idea &lt;b&gt;")
    for wrong in (
        {"kind": "goal", "text": " "},
        {"kind": "diary", "text": "x"},
        {"kind": "goal", "text": "x" * 1001},
    ):
        assert at_home.post(f"{path}add/", wrong).status_code == 422
    assert Memory.objects.of(mira.pk).filter(pursuit__isnull=False).count() == 2

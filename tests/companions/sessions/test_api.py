"""Closing, diary, self-concept and user profile through the API."""

from datetime import timedelta
from uuid import uuid4

import pytest

from companions.memories.editing import write_revision
from companions.models import Closing, Companion, Message
from companions.sessions.closing import run
from memory.models import DiaryEntry, Revision
from tests.companions.sessions.conftest import GARDEN, MORNING, TEA, Talk, closed
from tests.fixtures.clock import clock_at
from tests.fixtures.rest import Api, problem

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira", "rehearsal")]
NOON = MORNING + timedelta(hours=3)
TEXTS = ["self-concept", "user-profile"]


@pytest.fixture
def path(mira: Companion) -> str:
    return f"/companions/{mira.pk}"


def state(api: Api, path: str, job: dict[str, str]) -> str:
    return str(api.get(f"{path}/jobs/{job['id']}").json()["job"]["state"])


def test_a_closing_is_a_job_that_waits_runs_and_is_done(
    as_alice: Api, mira: Companion, path: str, talk: Talk
) -> None:
    talk(mira, *TEA)
    response = as_alice.post(f"{path}/close")
    job = response.json()["job"]
    assert (response.status_code, job["state"], job["total"]) == (202, "waiting", 1)
    closing = Closing.objects.get()
    Closing.objects.update(next_at=closing.asked_at + timedelta(minutes=20))
    assert state(as_alice, path, job) == "running"
    run(closing.pk, clock_at(closing.asked_at + timedelta(minutes=20)))
    assert as_alice.get(f"{path}/jobs/{job['id']}").json()["job"] == {**job, "state": "done", "done": 1}
    Closing.objects.update(state="failed")
    assert state(as_alice, path, job) == "failed"


def test_a_closing_without_remembering_deletes(as_alice: Api, mira: Companion, path: str, talk: Talk) -> None:
    talk(mira, *TEA)
    assert as_alice.post(f"{path}/close", {"remember": False}).status_code == 202
    closing = Closing.objects.get()
    run(closing.pk, clock_at(closing.asked_at))
    assert not Message.objects.exists()
    problem(as_alice.post(f"{path}/close", {"remember": "perhaps"}), 422, "not_valid")
    problem(as_alice.post(f"{path}/close", b"{"), 400, "bad_request")


def test_a_closing_asked_for_twice_under_one_key_is_one(
    as_alice: Api, mira: Companion, path: str, talk: Talk
) -> None:
    talk(mira, *TEA)
    key = {"Idempotency-Key": "one"}
    first = as_alice.post(f"{path}/close", {"remember": True}, **key).json()
    assert as_alice.post(f"{path}/close", {"remember": True}, **key).json() == first
    problem(as_alice.post(f"{path}/close", {"remember": False}, **key), 409, "idempotency_key_taken")


def test_the_diary_is_listed_and_leads_to_the_originals(
    as_alice: Api, mira: Companion, path: str, talk: Talk
) -> None:
    for day, words in enumerate((TEA, GARDEN)):
        talk(mira, *words, at=MORNING + timedelta(days=day))
        closed(mira, NOON + timedelta(days=day))
    page = as_alice.get(f"{path}/diary?limit=1").json()
    rest = as_alice.get(f"{path}/diary?cursor={page['next']}").json()
    assert [one["started_at"][:10] for one in page["items"] + rest["items"]] == ["2023-05-03", "2023-05-02"]
    entry = rest["items"][0]
    assert as_alice.get(f"{path}/diary/{entry['id']}").json() == entry
    originals = as_alice.get(f"{path}/diary/{entry['id']}/messages?limit=3").json()
    more = as_alice.get(f"{path}/diary/{entry['id']}/messages?cursor={originals['next']}").json()
    assert [one["text"] for one in originals["items"] + more["items"]] == list(reversed(TEA))
    problem(as_alice.get(f"{path}/diary/{uuid4()}"), 404, "not_found")


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_written_compared_and_restored(as_alice: Api, path: str, text: str) -> None:
    empty = as_alice.get(f"{path}/{text}").json()
    assert (empty["number"], empty["sentences"]) == (0, [])
    for words in (["One."], ["One.", "Two."]):
        assert as_alice.call("PUT", f"{path}/{text}", {"sentences": words}).status_code == 200
    assert as_alice.call("PUT", f"{path}/{text}", {"sentences": ["One.", "Two."]}).json()["number"] == 2
    listed = as_alice.get(f"{path}/{text}/revisions").json()["items"]
    assert sorted(one["number"] for one in listed) == [1, 2]
    assert as_alice.get(f"{path}/{text}/revisions/1").json()["sentences"] == [{"text": "One.", "sources": []}]
    restored = as_alice.post(f"{path}/{text}/revisions/1/restore").json()
    assert (restored["number"], restored["by"]) == (3, "restored")
    assert as_alice.get(f"{path}/{text}").json() == restored
    other = TEXTS[1 - TEXTS.index(text)]
    assert as_alice.get(f"{path}/{other}").json()["number"] == 0


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_has_at_most_twenty_sentences_of_four_hundred_characters(
    as_alice: Api, path: str, text: str
) -> None:
    for words in (["Word."] * 21, ["x" * 401], [""], [" "], ["a\x00b"], "no list", [7]):
        problem(as_alice.call("PUT", f"{path}/{text}", {"sentences": words}), 422, "not_valid")
    assert not Revision.objects.exists()
    many = [f"{number}" + "x" * 390 for number in range(20)]
    assert as_alice.call("PUT", f"{path}/{text}", {"sentences": many}).status_code == 200
    assert as_alice.call("PUT", f"{path}/{text}", {"sentences": []}).json()["sentences"] == []


def test_another_companions_revision_cannot_be_restored(
    as_alice: Api, as_mallory: Api, mira: Companion, tian: Companion, path: str
) -> None:
    for number in range(3):
        write_revision(tian, Revision.About.USER_PROFILE, [f"Bob's {number}."], NOON)
    problem(as_alice.post(f"{path}/user-profile/revisions/2/restore"), 404, "not_found")
    problem(as_alice.post(f"/companions/{tian.pk}/user-profile/revisions/2/restore"), 404, "not_found")
    problem(as_mallory.get(f"/companions/{tian.pk}/user-profile/revisions/2"), 404, "not_found")
    assert Revision.objects.of(tian.pk, "user_profile")[0].number == 3
    assert not Revision.objects.of(mira.pk, "user_profile").exists()


def test_a_revision_restored_twice_under_one_key_is_one(as_alice: Api, path: str) -> None:
    for words in (["One."], ["Two."]):
        as_alice.call("PUT", f"{path}/self-concept", {"sentences": words})
    key = {"Idempotency-Key": "one"}
    for _time in range(2):
        assert as_alice.post(f"{path}/self-concept/revisions/1/restore", None, **key).json()["number"] == 3
    again = {"Idempotency-Key": "two"}
    for _time in range(2):
        written = as_alice.call("PUT", f"{path}/self-concept", {"sentences": ["Three."]}, **again)
        assert written.json()["number"] == 4


def test_a_sentence_that_the_user_leaves_as_it_is_keeps_its_sources(
    as_alice: Api, mira: Companion, path: str, talk: Talk
) -> None:
    talk(mira, *TEA)
    closed(mira, NOON)
    assert DiaryEntry.objects.exists()
    before = as_alice.get(f"{path}/user-profile").json()["sentences"]
    assert before
    assert before[0]["sources"]
    words = [before[0]["text"], "Alice hums while she works."]
    after = as_alice.call("PUT", f"{path}/user-profile", {"sentences": words}).json()["sentences"]
    assert after == [before[0], {"text": words[1], "sources": []}]

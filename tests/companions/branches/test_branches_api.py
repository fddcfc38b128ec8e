"""Branches through the API: what is said anew, chosen, named and deleted."""

from typing import Any

import pytest
from django.test import AsyncClient
from django.utils import timezone

from companions.branches import operations
from companions.deletion import delete_message
from companions.models import Branch, Closing, Companion, Conversation, JournalEntry, Message, Reply
from companions.pasts.log_import import Line, import_log
from companions.replies.lifecycle import start
from companions.sessions.ending import load_ending
from companions.sessions.requests import close
from database.journal import everywhere
from jobs.background import in_thread
from memory.models import Memory
from memory.store import keep_fact
from tests.companions.everywhere import tables_with
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.rest import Api, problem
from tests.pages.conftest import answered

MARKER = "Zxqvorn"
ON_THE_LOOP = pytest.mark.django_db(transaction=True)  # visits the database from several threads


def branches(api: Api, companion: Companion) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = api.get(f"/companions/{companion.pk}/branches").json()["items"]
    return items


def history(api: Api, companion: Companion) -> list[str]:
    items = api.get(f"/companions/{companion.pk}/messages").json()["items"]
    return [item["text"] for item in reversed(items)]


@ON_THE_LOOP
@pytest.mark.usefixtures("web")
async def test_what_is_said_anew_is_answered_on_a_branch_of_its_own(
    as_alice: Api, mira: Companion, rehearsal: RehearsalServer
) -> None:
    path = f"/companions/{mira.pk}/messages"
    rehearsal.script({"answer": "A cat, then."})
    first = (await as_alice.apost(path, {"text": "I have a cat."})).json()
    rehearsal.script({"answer": "A dog, then."})
    client = AsyncClient()
    said = await client.patch(
        f"/api/v1{path}/{first['message']['id']}",
        {"text": "I have a dog."},
        content_type="application/json",
        headers=as_alice.headers,
    )
    assert said.status_code == 201
    assert said.json()["reply"]["text"] == "A dog, then."
    sent = rehearsal.requests()[-1]["messages"]
    assert "cat" not in str(sent[-3:])
    assert await in_thread(history, as_alice, mira) == ["I have a dog.", "A dog, then."]
    [left] = [branch for branch in await in_thread(branches, as_alice, mira) if not branch["is_chosen"]]
    assert left["last"] == "A cat, then."
    chosen = await as_alice.apost(f"/companions/{mira.pk}/branches/{left['id']}/choose")
    assert chosen.json()["is_chosen"]
    assert await in_thread(history, as_alice, mira) == ["I have a cat.", "A cat, then."]


@pytest.mark.django_db
def test_a_branch_is_made_named_and_deleted(as_alice: Api, mira: Companion) -> None:
    first = answered(mira, "One.", "First.")
    answered(mira, "Two.", "Second.")
    path = f"/companions/{mira.pk}/branches"
    body = {"from_message": str(first.answer_id), "name": "  Another\nway "}
    made = as_alice.post(path, body)
    assert (made.status_code, made.json()["name"], made.json()["is_chosen"]) == (201, "Another way", True)
    assert history(as_alice, mira) == ["One.", "First."]
    answered(mira, "Three.", "Third.")
    assert branches(as_alice, mira)[0]["last"] == "Third."
    problem(as_alice.call("DELETE", f"{path}/{made.json()['id']}"), 409, "branch_chosen")
    [other] = [branch for branch in branches(as_alice, mira) if not branch["is_chosen"]]
    assert (
        as_alice.call("PATCH", f"{path}/{other['id']}", {"name": "The first"}).json()["name"] == "The first"
    )
    assert as_alice.call("DELETE", f"{path}/{other['id']}").status_code == 204
    texts = set(Message.everywhere.filter(companion=mira).values_list("text", flat=True))
    assert texts == {"One.", "First.", "Three.", "Third."}


@ON_THE_LOOP
def test_while_it_answers_nothing_is_parted_from(as_alice: Api, mira: Companion) -> None:
    first = answered(mira, "One.", "First.")
    start(mira, "Two.", None, timezone.now())
    path = f"/companions/{mira.pk}"
    problem(as_alice.post(f"{path}/branches", {"from_message": str(first.answer_id)}), 409, "reply_open")
    message = f"{path}/messages/{first.message_id}"
    problem(as_alice.call("PATCH", f"{message}?wait=0", {"text": "Otherwise."}), 409, "reply_open")
    assert Branch.objects.count() == 0
    assert history(as_alice, mira) == ["One.", "First.", "Two."]


@pytest.mark.django_db
def test_an_import_leaves_what_was_said_in_its_order_whatever_its_dates_say(
    as_alice: Api, mira: Companion
) -> None:
    """Branches are left by undoing, message by message, what was changed after each."""
    path = f"/companions/{mira.pk}/import/log"
    line = {"role": "user", "text": "Of another clock.", "at": "2090-01-01T00:00:00Z"}
    assert as_alice.post(path, {"messages": [line]}).status_code == 202
    answered(mira, "One.", "First.")
    earlier = {"role": "user", "text": "Long ago.", "at": "2020-01-01T00:00:00Z"}
    assert as_alice.post(path, {"messages": [earlier]}).status_code == 202
    assert history(as_alice, mira) == ["Long ago.", "Of another clock.", "One.", "First."]


@pytest.mark.django_db
def test_there_is_an_end_to_branches(as_alice: Api, mira: Companion, monkeypatch: pytest.MonkeyPatch) -> None:
    first = answered(mira, "One.", "First.")
    monkeypatch.setattr(operations, "MAX_BRANCHES", 2)
    path, body = f"/companions/{mira.pk}/branches", {"from_message": str(first.message_id)}
    assert as_alice.post(path, body).status_code == 201
    problem(as_alice.post(path, body), 409, "too_many_branches")


@pytest.mark.django_db
def test_there_is_no_branch_from_a_message_that_is_not_there(as_alice: Api, mira: Companion) -> None:
    nothing = {"from_message": "00000000-0000-4000-8000-000000000000"}
    problem(as_alice.post(f"/companions/{mira.pk}/branches", nothing), 404, "no_such_message")
    assert Branch.objects.count() == 0


@ON_THE_LOOP
def test_only_ones_own_words_are_said_anew_and_not_with_none(as_alice: Api, mira: Companion) -> None:
    first = answered(mira, "One.", "First.")
    path = f"/companions/{mira.pk}/messages"
    problem(as_alice.call("PATCH", f"{path}/{first.answer_id}", {"text": "No."}), 422, "no_such_message")
    problem(as_alice.call("PATCH", f"{path}/{first.message_id}", {"text": " "}), 422, "empty_message")
    assert Branch.objects.count() == 0


@pytest.mark.django_db
def test_what_is_deleted_comes_back_on_no_branch(mira: Companion) -> None:
    now = timezone.now()
    told = answered(mira, f"My word is {MARKER}.", "I see.").message
    answered(mira, "And tea.", "Tea.")
    keep_fact(mira.pk, f"Alice opens it with {MARKER}.", now, now, [told.pk])
    operations.fork(mira, told.pk, now)
    assert MARKER not in str(list(Memory.objects.learnt().values_list("text", flat=True)))
    assert tables_with(MARKER)
    delete_message(told, now)
    assert tables_with(MARKER) == {}


@pytest.mark.django_db
def test_what_a_person_writes_holds_on_every_branch(as_alice: Api, mira: Companion) -> None:
    now = timezone.now()
    first = answered(mira, "One.", "First.")
    answered(mira, "Two.", "Second.")
    learnt = keep_fact(mira.pk, "Alice counts.", now, now)
    keep_fact(mira.pk, "Alice counted to two.", now, now)
    path = f"/companions/{mira.pk}"
    assert as_alice.call("PATCH", f"{path}/memories/{learnt.pk}", {"is_pinned": True}).status_code == 200
    as_alice.post(f"{path}/memories", {"text": "Alice likes numbers."})
    assert as_alice.call("PUT", f"{path}/slots/tea", {"text": "white"}).status_code == 200
    operations.fork(mira, first.message_id, now)
    assert mira.slots.get().text == "white"
    facts = set(Memory.objects.of(mira.pk).learnt().values_list("text", flat=True))
    assert facts == {"Alice counts.", "Alice likes numbers."}


@pytest.mark.django_db
def test_the_journal_goes_with_its_companion(mira: Companion) -> None:
    now = timezone.now()
    answered(mira, "One.", "First.")
    keep_fact(mira.pk, "Alice counts.", now, now)
    assert JournalEntry.objects.filter(companion=mira).exists()
    with everywhere():
        keep_fact(mira.pk, "Alice likes numbers.", now, now)
    assert not JournalEntry.objects.filter(row=Memory.objects.get(text="Alice likes numbers.").pk).exists()
    mira.delete()
    assert not JournalEntry.objects.exists()


@pytest.mark.django_db
def test_what_is_said_on_one_branch_alone_is_found_at_once(
    mira: Companion, django_assert_num_queries: Any
) -> None:
    now = timezone.now()
    shared = answered(mira, "One.", "First.")
    for number in range(9):
        answered(mira, f"More {number}.", "I see.")
    left = Message.objects.filter(companion=mira).exclude(pk__in=[shared.message_id, shared.answer_id])
    ids = set(left.values_list("pk", flat=True))
    assert shared.answer_id
    operations.fork(mira, shared.answer_id, now)
    branch = Branch.objects.get(companion=mira, left_at__isnull=False)
    with django_assert_num_queries(1):
        assert set(operations.find_own_messages(branch)) == ids


@pytest.mark.django_db
def test_what_sleeps_is_not_imported_again(mira: Companion) -> None:
    now = timezone.now()
    first = answered(mira, "One.", "First.")
    second = start(mira, "Two.", "two", now)
    Reply.objects.filter(pk=second.reply.pk).update(state=Reply.State.DONE)
    operations.fork(mira, first.message_id, now)
    import_log(mira, [Line(role="user", text="Two.", at=now, client_id="two")], now)
    assert Message.everywhere.filter(client_id="two").count() == 1


@pytest.mark.django_db
def test_a_talk_that_was_to_end_goes_on_where_another_branch_is_chosen(mira: Companion) -> None:
    now = timezone.now()
    first = answered(mira, "One.", "First.")
    answered(mira, "Two.", "Second.")
    job = close(mira, now)
    operations.fork(mira, first.message_id, now)
    assert not Closing.objects.exists()
    job.refresh_from_db()
    assert job.error == "branch_changed"
    assert load_ending(mira).closing is None


@pytest.mark.django_db
def test_a_chosen_branch_of_a_talk_without_an_end_is_listed(as_alice: Api, mira: Companion) -> None:
    now = timezone.now()
    lines = [Line(role="user", text="One.", at=now), Line(role="assistant", text="Two.", at=now)]
    import_log(mira, lines, now)
    first = Message.objects.get(companion=mira, text="One.")
    operations.fork(mira, first.pk, now)
    Conversation.objects.filter(companion=mira).update(head=None)
    chosen = [one["last"] for one in branches(as_alice, mira) if one["is_chosen"]]
    assert chosen == ["One."]

"""What is private reaches no model; its owner sees and finds it all the while."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client

from accounts.models import User
from companions.branches.operations import choose, fork
from companions.memories.editing import set_private
from companions.models import Branch, Companion, Message
from jobs.background import in_thread
from memory.embedding import embed_waiting
from memory.learning.neighbours import find_neighbours
from memory.models import Memory
from memory.recall.candidates import MemoryFilter
from memory.recall.recall import recall
from tests.companions.deletion.conftest import MARKER, NOW, SECRET, TEA, diary, learnt, told
from tests.companions.sessions.conftest import closed
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.rest import Api
from tests.fixtures.turns import connected

pytestmark = pytest.mark.django_db


def make_private(memory: Memory) -> None:
    set_private(memory, True, NOW)


def test_what_was_drawn_from_it_alone_is_private_too_and_the_rest_is_not(
    mira: Companion, said: list[Message]
) -> None:
    alone = learnt(mira, f"Alice opens it with {MARKER}.", [(said[0], SECRET)])
    both = learnt(mira, "Alice likes tea.", [(said[2], TEA), (said[0], SECRET)])
    make_private(Memory.objects.get(message=said[0]))
    private = set(Memory.objects.filter(is_private=True).values_list("pk", flat=True))
    assert private == {Memory.objects.get(message=said[0]).pk, alone.pk}
    both.refresh_from_db()
    assert both.evidence == 2
    assert Message.objects.get(pk=said[0].pk).is_hidden


def test_nothing_that_stands_in_prompts_tells_it(mira: Companion, spread: Callable[[], Message]) -> None:
    from tests.companions.everywhere import tables_with

    message = spread()
    make_private(Memory.objects.get(message=message))
    assert tables_with(MARKER).keys() == {"companions_message", "memory_memory"}
    assert not Memory.objects.filter(text__contains=MARKER, is_private=False).exists()


def test_models_are_not_given_it_and_its_owner_is(mira: Companion, said: list[Message]) -> None:
    memory = learnt(mira, f"Alice opens it with {MARKER}.", [(said[0], SECRET)])
    make_private(memory)
    asked = {"now": NOW + timedelta(days=1), "zone": mira.user.zone}
    assert memory not in [one.memory for one in recall(mira.pk, MARKER, 9, **asked)]
    assert memory in [
        one.memory for one in recall(mira.pk, MARKER, 9, filters=MemoryFilter(with_private=True), **asked)
    ]
    assert memory not in find_neighbours(mira.pk, [SECRET], **asked)


def test_what_was_drawn_from_it_on_another_branch_is_private_there_too(
    mira: Companion, said: list[Message]
) -> None:
    there = learnt(mira, f"Alice opens it with {MARKER}.", [(said[0], SECRET)])
    fork(mira, said[1].pk, NOW)
    make_private(Memory.objects.get(message=said[0]))
    choose(Branch.objects.get(companion=mira, left_at=NOW), NOW)
    there.refresh_from_db()
    assert there.is_private


def test_its_owner_finds_it_marked_and_gives_it_back(
    alice: User, at_home: Client, mira: Companion, said: list[Message]
) -> None:
    memory, api = Memory.objects.get(message=said[0]), Api(alice)
    path = f"/companions/{mira.pk}/memories/{memory.pk}"
    assert api.call("PATCH", path, {"is_private": True}).json()["is_private"] is True
    found = api.post(f"/companions/{mira.pk}/recall", {"cue": MARKER}).json()["results"]
    assert str(memory.pk) in [one["id"] for one in found]
    listed = api.get(f"/companions/{mira.pk}/memories").json()["items"]
    assert {one["id"] for one in listed if one["is_private"]} == {str(memory.pk)}
    page = at_home.get(f"/companions/{mira.pk}/memories/?kind=private").content.decode()
    assert MARKER in page
    assert "hidden from models" in page
    at_home.post(f"/companions/{mira.pk}/memories/{memory.pk}/private/")
    memory.refresh_from_db()
    assert not memory.is_private
    assert not Message.objects.get(pk=said[0].pk).is_hidden


def test_with_what_was_learnt_the_messages_behind_it_are_private(
    alice: User, at_home: Client, mira: Companion, said: list[Message]
) -> None:
    memory = learnt(mira, f"Alice opens it with {MARKER}.", [(said[0], SECRET)])
    page = at_home.get(f"/companions/{mira.pk}/memories/{memory.pk}/private/").content.decode()
    assert "The messages it was learnt from stay in your talk" in page
    Api(alice).call("PATCH", f"/companions/{mira.pk}/memories/{memory.pk}", {"is_private": True})
    assert list(Message.objects.filter(is_hidden=True)) == [said[0]]
    private = set(Memory.objects.filter(is_private=True))
    assert private == {memory, Memory.objects.get(message=said[0])}
    set_private(memory, False, NOW)
    assert Message.objects.get(pk=said[0].pk).is_hidden


def test_a_diary_entry_that_is_private_hides_nothing_that_was_said(
    mira: Companion, said: list[Message]
) -> None:
    entry = diary(mira, said[0].session, told("Alice named it.", said[0]))
    assert entry.memory
    make_private(entry.memory)
    assert not Message.objects.filter(is_hidden=True).exists()


def test_what_is_private_is_not_learnt_again(
    mira: Companion, said: list[Message], rehearsal: RehearsalServer
) -> None:
    make_private(learnt(mira, f"Alice opens it with {MARKER}.", [(said[0], SECRET)]))
    closed(mira, NOW + timedelta(days=9000))
    assert rehearsal.requests()
    assert MARKER not in str(rehearsal.requests())
    assert not Memory.objects.filter(text__contains=MARKER, is_private=False).exists()
    assert Memory.objects.filter(kind="diary").exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("web")
@pytest.mark.parametrize("kind", ["said", "fact"])
async def test_no_request_that_goes_to_a_model_holds_it(
    alice: User, mira: Companion, spread: Callable[[], Message], rehearsal: RehearsalServer, kind: str
) -> None:
    """A turn that asks for it, its tools, and the end of the session: whatever is sent is looked at."""
    await in_thread(spread)
    await in_thread(
        make_private, await in_thread(Memory.objects.get, kind=kind, text__regex=rf"opens .*with {MARKER}\.$")
    )
    await in_thread(embed_waiting, mira.pk)
    tools = [
        {"name": "recall", "arguments": {"cue": "password of the locker"}},
        {"name": "search_conversation", "arguments": {"words": "locker"}},
    ]
    rehearsal.script({"tool_calls": tools}, {"answer": "I do not know."}, {"answer": "Nothing."})
    async with connected(alice, mira) as socket:
        for text in ("How do I open my locker?", "And what did I say of the locker?"):
            await socket.send("message.send", text=text, client_id=text)
            await socket.until("reply.done", "reply.failed")
    await in_thread(closed, mira, NOW + timedelta(days=9000))
    sent = rehearsal.requests()
    assert len(sent) >= 4
    assert MARKER not in str(sent)

"""A word that was said, repeated and deleted is nowhere: no table, no key in Redis, no log, no file."""

import pytest

from memory.models import Embedding
from tests.companions.everywhere import keys_with, tables_with
from tests.processes.house import ALIAS, House, eventually
from tests.processes.person import Person

pytestmark = pytest.mark.processes
MARKER = "Zxqvorn"
LONG = [f"{number} and " for number in range(2000)]  # far longer than all that happens meanwhile


def files_with(house: House, word: str) -> list[str]:
    """The logs of every process, and all else below KITH_HOME but the databases' own files."""
    paths = [path for path in house.home.rglob("*") if path.is_file()]
    kept = [
        path for path in paths if not {"postgres", "redis"} & set(path.relative_to(house.home).parts[:-1])
    ]
    assert {"web0.log", "web1.log", "worker.log", "postgres.log", "redis.log"} <= {path.name for path in kept}
    return [path.name for path in kept if word.lower().encode() in path.read_bytes().lower()]


def delete(person: Person, message_id: str) -> None:
    """The message, through the memory of it."""
    (said,) = [
        memory
        for memory in person.api(1).get(f"{person.path}/memories").json()["items"]
        if message_id in [one["message_id"] for one in memory["sources"]] and memory["kind"] == "said"
    ]
    address = f"{person.path}/memories/{said['id']}?with_message=true"
    assert person.api(1).delete(address).status_code == 204


def test_a_word_deleted_while_it_is_talked_about_is_nowhere(house: House, alice: Person) -> None:
    remember = {"name": "remember", "arguments": {"text": f"The password is {MARKER}."}}
    house.rehearsal.script(
        {"tool_calls": [remember], "thought": f"{MARKER}, then."},
        {"answer": "I keep it."},
        {"error": {"status": 400, "body": f"I cannot read {MARKER}"}},
        {"pieces": LONG, "delay_between": 0.02, "thought": f"{MARKER} again."},
    )
    with alice.socket(0) as here, alice.socket(1) as there:
        here.say(f"My password is {MARKER}.", "one")
        first = here.saved("one")
        here.ending(first["reply"]["id"])
        there.say("What is it?", "two")
        assert there.ending(there.saved("two")["reply"]["id"])["code"] == "provider_refused"
        alice.api().post(f"{alice.path}/recall", json={"cue": f"Where is {MARKER}?", "limit": 5})
        eventually(lambda: house.rows(Embedding).filter(companion_id=alice.companion_id).count() >= 3, 60)
        here.say("Tell me a tale", "three")
        reply_id = here.saved("three")["reply"]["id"]
        there.pieces(5, reply_id)
        before = tables_with(MARKER, ALIAS)
        assert {
            "companions_prompt",
            "companions_reply",
            "memory_recall",
            "accounts_modelcall",
        } <= before.keys()
        delete(alice, first["message"]["id"])
        assert there.ending(reply_id)["type"] == "reply.interrupted"
        assert tables_with(MARKER, ALIAS) == {}
        assert keys_with(MARKER, house.services.redis_url) == []
        assert files_with(house, MARKER) == []
        house.rehearsal.script({"answer": "I do not know."})
        there.say("What was my password again?", "four")
        there.ending(there.saved("four")["reply"]["id"])
    assert MARKER not in str(house.rehearsal.requests()[-1])


def test_a_word_that_a_companion_came_back_to_by_itself_is_nowhere(house: House, alice: Person) -> None:
    """Through a timer's note, the waking, its thought, feeling, page and reminder, and what was said to that."""
    when, note = "<kith-waking>", f"open the locker with {MARKER}"
    lived = [
        ("think", {"text": f"{MARKER}, I remember."}),
        ("feel", {"text": f"I think of {MARKER}."}),
        ("write_diary", {"title": f"Of {MARKER}", "text": f"It was {MARKER}."}),
        ("set_timer", {"schedule": "1d", "note": f"ask about {MARKER}"}),
    ]
    house.rehearsal.script(
        {"tool_calls": [{"name": "set_timer", "arguments": {"schedule": "2s", "note": note}}]},
        {"answer": "I will."},
        {"tool_calls": [{"name": name, "arguments": told} for name, told in lived], "when": when},
        {"answer": f"Now is the time to {note}.", "thought": f"{MARKER}!", "when": when},
    )
    with alice.socket(0) as here, alice.socket(1) as there:
        here.say(f"Remind me in a moment to {note}.", "one")
        first = here.saved("one")
        here.ending(first["reply"]["id"])
        said = there.first("message.said", seconds=40.0)
        assert MARKER in said["message"]["text"]
        eventually(lambda: house.rows(Embedding).filter(companion_id=alice.companion_id).count() >= 3, 60)
        assert {
            *("companions_timer", "companions_waking", "companions_innerstate", "companions_session"),
            *("companions_message", "companions_prompt", "memory_diaryentry", "memory_memory"),
        } <= tables_with(MARKER, ALIAS).keys()
        delete(alice, first["message"]["id"])
    assert tables_with(MARKER, ALIAS) == {}
    assert keys_with(MARKER, house.services.redis_url) == []
    assert files_with(house, MARKER) == []

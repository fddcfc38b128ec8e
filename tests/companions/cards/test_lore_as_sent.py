"""Keys and their logics, books beside each other, and what lore is not: all asked of the prompt as sent and its trace."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from companions.models import Lorebook, Message, Prompt, Reply
from companions.replies.preview import preview_usage
from jobs.background import in_thread
from memory.models import Memory
from memory.recall.recall import recall
from tests.companions.cards.cards import add_persons_book, ask, entry, made
from tests.companions.life.test_waking_tools import awake_of
from tests.companions.test_turn import ENDINGS
from tests.companions.tools.conftest import NOW, end, turn_of
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.turns import connected

pytestmark = pytest.mark.django_db
MET = {
    "AND_ANY": {0: False, 1: True, 2: True},  # by how many of the two secondary keys are there
    "NOT_ALL": {0: True, 1: True, 2: False},
    "NOT_ANY": {0: True, 1: False, 2: False},
    "AND_ALL": {0: False, 1: False, 2: True},
}
SAYS = {0: "The dragon.", 1: "The dragon is red.", 2: "The dragon is red and old."}


def test_secondary_keys_by_their_logic(alice: User) -> None:
    lore = [
        entry(logic, selective=True, secondary_keys=["red", "old"], extensions={"selectiveLogic": number})
        for number, logic in enumerate(MET)
    ]
    plain = entry("NOT SELECTIVE", secondary_keys=["red"])
    mira = made(alice, *lore, plain, book={"scan_depth": 1})
    for count, said in SAYS.items():
        sent = ask(mira, said)
        met = {logic for logic, when in MET.items() if when[count]}
        assert set(sent.placed) == met | {"NOT SELECTIVE"}
        assert sent.dropped == dict.fromkeys(MET.keys() - met, "secondary_keys")
        assert {logic for logic in MET if logic in sent.text} == met


def test_keys_of_every_kind(alice: User) -> None:
    lore = [
        entry("ANY CASE", "DRAGON"),
        entry("THIS CASE", "DRAGON", case_sensitive=True),
        entry("WHOLE", "drag", extensions={"match_whole_words": True}),
        entry("PART", "drag"),
        entry("CHINESE", "巨龙", extensions={"match_whole_words": True}),
        entry("PATTERN", r"dr[aä]g\w+", use_regex=True, constant=True, secondary_keys=["no"], selective=True),
        entry("SLASHES", "/DRAG.N/i"),
        entry("INVALID", "dragon(", use_regex=True),
        entry("NAMED", "{{user}}'s"),
        entry("CONSTANT", "nothing", constant=True),
        entry("OFF", constant=True, enabled=False),
        entry(" ", constant=True),
    ]
    sent = ask(made(alice, *lore), "Alice's dragon, 我的巨龙。")
    keys = ["ANY CASE", "PART", "CHINESE", "PATTERN", "SLASHES", "NAMED"]
    assert sent.placed == {**dict.fromkeys(keys, "key"), "CONSTANT": "constant"}
    assert sent.dropped == {"INVALID": "pattern_invalid"}
    absent = ("THIS CASE", "WHOLE", "INVALID", "OFF")
    assert [text for text in absent if text in sent.text] == []
    assert all(sent.text.count(text) == 1 for text in sent.placed)


def test_entries_call_entries_once_each_and_a_hidden_key_calls_unseen(alice: User) -> None:
    lore = [
        entry("ONE has a wolf. {{hidden_key:bear}}"),
        entry("TWO of the dragon", "wolf", insertion_order=5),
        entry("THREE", "bear", insertion_order=30),
        entry("FOUR", "wolf", extensions={"exclude_recursion": True}),
    ]
    sent = ask(made(alice, *lore), "The dragon.")
    reasons = {lore[0]["content"]: "key", "TWO of the dragon": "recursion", "THREE": "recursion"}
    assert sent.placed == reasons
    assert sent.persona == "TWO of the dragon\n\nONE has a wolf.\n\nTHREE"
    alone = ask(made(alice, *lore, book={"recursive_scanning": False}), "The dragon.")
    assert set(alone.placed) == {lore[0]["content"]}


def test_all_books_together_have_a_fifth_and_the_companions_own_is_heard_first(
    alice: User, settings: Any
) -> None:
    settings.CONTEXT_TOKENS = 4096
    own, theirs = f"OWN {'word ' * 498}".strip(), f"PERSONS {'word ' * 498}".strip()
    add_persons_book(alice, entry(theirs, insertion_order=500, priority=9), entry("SHORT"))
    mira = made(alice, entry(own))
    sent = ask(mira, "The dragon.")
    assert sent.placed == {own: "key", "SHORT": "key"}
    assert sent.dropped == {theirs: "budget"}
    Lorebook.objects.filter(companion=mira).update(is_enabled=False)
    assert set(ask(mira, "A dragon.").placed) == {theirs, "SHORT"}


def test_the_persons_book_is_for_all_of_theirs_and_for_nobody_else(alice: User, bob: User) -> None:
    add_persons_book(alice, entry("PERSONS", insertion_order=10), entry("EARLY", insertion_order=1))
    own = made(alice, entry("OWN", insertion_order=10))
    assert ask(own, "The dragon.").persona == "EARLY\n\nOWN\n\nPERSONS"
    assert ask(made(alice), "The dragon.").persona == "EARLY\n\nPERSONS"
    assert ask(made(bob), "The dragon.").placed == {}


def test_the_talk_that_is_searched_is_whole_whatever_the_window_and_without_what_is_hidden(
    alice: User,
) -> None:
    mira = made(alice, entry("SEEN", "wolf"), entry("HIDDEN", "bear"), book={"scan_depth": 100})
    ask(mira, "The wolf.", "The bear.", "And?")
    Message.objects.filter(text="The bear.").update(is_hidden=True)
    mira.sessions.update(unsent=5)
    sent = ask(mira, "Hello.")
    assert "The wolf." not in sent.text
    assert sent.placed == {"SEEN": "key"}


def test_a_waking_has_what_is_always_in_mind(alice: User) -> None:
    lore = [
        entry("CONSTANT", constant=True),
        entry("DEEP", constant=True, extensions={"position": 4, "depth": 4}),
        entry("@@activate_only_after 2\nLATER", constant=True),
        entry("@@keep_activate_after_match\nKEPT"),
        entry("CALLED"),
    ]
    mira = made(alice, *lore)
    ask(mira, "The dragon.", "Good.")
    system = str(awake_of(mira).prompt[0]["content"])
    persona = system.partition("<kith-persona>\n")[2].partition("\n</kith-persona>")[0]
    assert persona.split("\n\n") == ["CONSTANT", "LATER", "KEPT", "DEEP"]


def test_lore_is_no_memory(alice: User) -> None:
    mira = made(alice, entry("The dragon sleeps under Glumfort.", constant=True), first_mes="Hello.")
    ask(mira, "Where is the dragon?")
    assert not Memory.objects.filter(text__contains="Glumfort").exists()
    found = recall(
        mira.pk, "The dragon sleeps under Glumfort", 20, now=NOW + timedelta(hours=1), zone=alice.zone
    )
    assert [memory.memory.text for memory in found if "Glumfort" in memory.memory.text] == []
    assert "Glumfort" in ask(mira, "Glumfort?").persona


def test_without_a_lorebook_a_turn_asks_once_for_one_and_keeps_nothing(alice: User) -> None:
    mira = made(alice)
    end(turn_of(mira, "Hello.", NOW + timedelta(minutes=1)), now=NOW + timedelta(minutes=1))
    with CaptureQueriesContext(
        connection,
    ) as queries:
        turn = turn_of(mira, "The dragon.", NOW + timedelta(minutes=2))
    asked = [query["sql"] for query in queries if "lore" in query["sql"].lower()]
    assert len([sql for sql in asked if "companions_lorebook" in sql]) == 1
    assert [sql for sql in asked if "companions_loreentry" in sql or "companions_lorefiring" in sql] == []
    assert Reply.objects.get(pk=turn.reply.pk).lore == {}


def test_the_preview_of_the_context_has_the_lore(alice: User) -> None:
    mira = made(alice, entry("@@activate_only_after 1\n" + "word " * 90, constant=True), first_mes="Hi.")
    with_lore = sum(preview_usage(mira, NOW + timedelta(minutes=1)).parts.values())
    Lorebook.objects.update(is_enabled=False)
    assert with_lore - sum(preview_usage(mira, NOW + timedelta(minutes=1)).parts.values()) > 80


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("web")
async def test_what_the_models_server_was_sent_is_what_the_trace_tells(
    alice: User, rehearsal: RehearsalServer
) -> None:
    lore = [entry("LORE of {{user}}", "dragon"), entry("@@depth 1\n@@role assistant\nDEEP")]
    mira = await in_thread(
        lambda: made(alice, *lore, first_mes="Hello.", post_history_instructions="In verse.")
    )
    async with connected(alice, mira) as socket:
        await socket.send("message.send", text="The dragon.", client_id="one")
        await socket.until(*ENDINGS)
    (request,) = rehearsal.requests()
    prompt, reply = await in_thread(Prompt.objects.get), await in_thread(Reply.objects.get)
    assert request["messages"] == prompt.messages
    assert "LORE of Alice" in request["messages"][0]["content"]
    assert request["messages"][1] == {"role": "assistant", "content": "Hello.\n\nDEEP"}
    assert "<kith-persona>\nIn verse.\n</kith-persona>" in request["messages"][-1]["content"]
    assert [(one["place"], one["reason"]["code"], one["reason"]["key"]) for one in reply.lore["placed"]] == [
        ("after_desc", "key", "dragon"),
        ("depth", "key", "dragon"),
    ]

"""Each decorator of V3 in the prompt as sent, with the reason that the reply's trace gives; and where it stands."""

import re
from datetime import timedelta
from typing import Any

import pytest

from accounts.models import User
from companions.branches.operations import choose, fork
from companions.deletion.deletion import remove
from companions.models import Branch, Companion, LoreFiring, Message
from companions.replies import actions
from companions.replies.context import TurnContext, compose, load_context
from companions.replies.lifecycle import claim
from companions.replies.model_calls import record_call
from providers.selection import get_provider
from tests.companions.cards.cards import Sent, alternates, ask, entry, made, next_minute
from tests.companions.talking import say
from tests.companions.tools.conftest import NOW, end

pytestmark = pytest.mark.django_db
SAID = ("One.", "Answer.", "Two.", "Answer.", "The dragon.")  # after the greeting
# For each decorator: its lines, the entry's fields and those of the card beside, and what then comes of the entry: the
# code of the reason or of what leaves it out, and of one that comes in the text before which it stands, or "" for its
# usual place.
TABLE: dict[str, list[tuple[str, dict[str, Any], str, str]]] = {
    "activate_only_after": [
        ("@@activate_only_after 3", {}, "key", ""),  # the greeting counts
        ("@@activate_only_after 4", {}, "activate_only_after", ""),
    ],
    "activate_only_every": [
        ("@@activate_only_every 3", {}, "key", ""),
        ("@@activate_only_every 2", {}, "activate_only_every", ""),
    ],
    "keep_activate_after_match": [
        ("@@keep_activate_after_match", {}, "key", ""),
        ("@@keep_activate_after_match", {"keys": ["wolf"]}, "", ""),
    ],
    "dont_activate_after_match": [("@@dont_activate_after_match", {}, "key", "")],
    "depth": [
        ("@@depth 1", {}, "key", "The dragon."),
        ("@@depth 3", {}, "key", "Two."),
        ("@@depth 99", {}, "key", "Greeting."),
        ("@@depth 0", {}, "key", "<kith-context>"),
        ("@@depth -1", {}, "key", "<kith-context>"),
        ("@@depth 3\n@@position before_desc", {}, "key", "DESCRIPTION"),
    ],
    "instruct_depth": [("@@instruct_depth 50", {}, "key", "")],
    "reverse_depth": [
        ("@@reverse_depth 1", {}, "key", "One."),
        ("@@reverse_depth 0", {}, "key", "Greeting."),
        ("@@depth 1\n@@reverse_depth 0", {}, "key", "The dragon."),
    ],
    "reverse_instruct_depth": [("@@reverse_instruct_depth 50", {}, "key", "")],
    "role": [
        ("@@depth 1\n@@role system", {}, "key", "The dragon."),
        ("@@depth 1\n@@role user", {}, "key", "The dragon."),
        ("@@depth 1\n@@role assistant", {}, "key", "The dragon."),
        ("@@depth 0\n@@role assistant", {}, "key", "<kith-context>"),
        ("@@role boss", {}, "key", ""),
    ],
    "scan_depth": [
        ("@@scan_depth 5", {"keys": ["one"]}, "key", ""),
        ("@@scan_depth 4", {"keys": ["one"]}, "", ""),
        ("@@scan_depth 1", {"keys": ["two"]}, "", ""),
    ],
    "instruct_scan_depth": [("@@instruct_scan_depth 1", {"keys": ["two"]}, "key", "")],
    "is_greeting": [
        ("@@is_greeting 1", {}, "key", ""),
        ("@@is_greeting 0", {}, "is_greeting", ""),
        ("@@is_greeting 0\n@@activate", {}, "is_greeting", ""),
    ],
    "position": [
        ("@@position before_desc", {}, "key", "DESCRIPTION"),
        ("@@position after_desc", {}, "key", "PERSONALITY"),
        ("@@position personality", {}, "key", "Scenario: SCENARIO"),
        ("@@position scenario", {}, "key", "</kith-persona>"),
        ("@@position elsewhere", {}, "key", ""),
    ],
    "ignore_on_max_context": [("@@ignore_on_max_context", {}, "key", "")],  # while there is room
    "additional_keys": [
        ("@@additional_keys two, wolf", {}, "key", ""),
        ("@@additional_keys two\n@@additional_keys wolf", {}, "additional_keys", ""),
        ("@@additional_keys tw.", {"keys": ["wol.", "dragon"], "use_regex": True}, "key", ""),
    ],
    "exclude_keys": [
        ("@@exclude_keys wolf", {}, "key", ""),
        ("@@exclude_keys wolf, two", {}, "exclude_keys", ""),
        ("@@exclude_keys two", {"keys": ["drag.n"], "use_regex": True}, "key", ""),
    ],
    "is_user_icon": [("@@is_user_icon smiling", {}, "key", "")],  # here nobody chooses one
    "activate": [
        ("@@activate", {"keys": ["wolf"]}, "activate", ""),
        ("@@activate\n@@dont_activate", {}, "activate", ""),
    ],
    "dont_activate": [
        ("@@dont_activate", {}, "dont_activate", ""),
        ("@@dont_activate", {"constant": True}, "dont_activate", ""),
    ],
    "disable_ui_prompt": [
        ("@@disable_ui_prompt system_prompt", {}, "key", ""),
        ("@@disable_ui_prompt post_history_instructions", {}, "key", ""),
    ],
    "after": [("@@depth 1\n@@after", {}, "key", "")],
    "fallback": [  # counts where what is above it does not; what is unknown is left out
        ("@@glow 3\n@@@shine\n@@@hum", {}, "key", ""),
        ("@@glow\n@@@shine\n@@@hum\n@@@sing\n@@@buzz\n@@@dont_activate", {}, "dont_activate", ""),
        ("@@activate\n@@@dont_activate", {}, "activate", ""),
        ("@@disable_ui_prompt x\n@@@position scenario", {}, "key", "</kith-persona>"),
        ("@@position scenario\n@@position before_desc", {}, "key", "</kith-persona>"),
    ],
}
ROWS = [row for rows in TABLE.values() for row in rows]
EACH: dict[str, Sent] = {}


def talked(alice: User, *lore: dict[str, Any], **data: Any) -> Companion:
    """Mira, after a greeting and two answers."""
    data = {"first_mes": "First.", "alternate_greetings": ["Greeting."], "greeting": 1, **data}
    texts: dict[str, Any] = {
        "description": "DESCRIPTION",
        "personality": "PERSONALITY",
        "scenario": "SCENARIO",
    }
    mira = made(alice, *lore, **texts, **data)
    say(mira, *SAID[:-1], at=NOW + timedelta(minutes=1))
    return mira


@pytest.fixture
def sent(alice: User) -> Sent:
    """One prompt for the whole table, in which the entry of each row is a text of its own."""
    if not EACH:
        lore = [
            entry(
                f"{decorators}\nLORE-{n}.",
                *fields.get("keys", ()),
                **{k: v for k, v in fields.items() if k != "keys"},
            )
            for n, (decorators, fields, _code, _before) in enumerate(ROWS)
        ]
        EACH["sent"] = ask(talked(alice, *lore), SAID[-1], now=NOW + timedelta(minutes=9))
    return EACH["sent"]


def test_the_table_has_all_that_there_are() -> None:
    assert len(TABLE) == 22
    assert all(
        any(f"@@{name}" in row[0] for row in rows) for name, rows in TABLE.items() if name != "fallback"
    )


@pytest.mark.parametrize("number", range(len(ROWS)), ids=lambda number: ROWS[number][0].replace("\n", " "))
def test_a_decorator_does_what_it_says(sent: Sent, number: int) -> None:
    _decorators, _fields, code, before = ROWS[number]
    text = f"LORE-{number}."
    reasons = {"key", "activate", "constant", "kept"}
    assert sent.placed.get(text, "") == (code if code in reasons else "")
    assert sent.dropped.get(text, "") == ("" if code in reasons else code)
    assert sent.text.count(text) == (code in reasons)
    if code in reasons:
        alone = re.sub(rf"(?!LORE-{number}\.)LORE-\d+\.", "", sent.text)
        alone = re.sub(r"<kith-persona>\s*</kith-persona>", "", alone)
        alone = re.sub(rf"<kith-persona>\s*(LORE-{number}\.)\s*</kith-persona>", r"\1", alone)
        assert alone.partition(text)[2].lstrip().startswith(before or "PERSONALITY")


def test_nothing_of_a_decorator_is_sent_and_roles_take_turns(sent: Sent) -> None:
    assert "@@" not in sent.text
    assert alternates(sent.lines)
    own = next(text for by, text in sent.talk if by == "assistant" and "LORE" in text)
    (number,) = map(int, re.findall(r"LORE-(\d+)\.", own))
    assert ROWS[number][0] == "@@depth 1\n@@role assistant"
    assert "<kith-" not in own
    assert sent.instructions == ""
    assert "four sentences" in sent.directive  # whatever a card wants to have disabled


def test_without_room_goes_first_what_says_so_and_then_what_has_the_least_priority(alice: User) -> None:
    lore = [
        entry("@@ignore_on_max_context\nFIRST six words are in here.", constant=True, priority=999),
        entry("SECOND six words are in here.", priority=1),
        entry("LAST six words are in here.", priority=2),
        entry("TOO long " + "word " * 60),
    ]
    sent = ask(made(alice, *lore, book={"token_budget": 10}), "The dragon.")
    assert sent.placed == {"LAST six words are in here.": "key"}
    codes = {text.split()[0]: code for text, code in sent.dropped.items()}
    assert codes == {"FIRST": "max_context", "SECOND": "budget", "TOO": "budget"}
    assert [text for text in ("FIRST", "SECOND", "TOO") if text in sent.text] == []


# -- what happened before, on this branch

TIMED = [
    entry("@@keep_activate_after_match\nKEEP"),
    entry("@@dont_activate_after_match\nONCE"),
    entry("STICKY", extensions={"sticky": 2}),
    entry("COOL", extensions={"cooldown": 4}),
    entry("DELAY", "hello", extensions={"delay": 5}),
]
ALL = {"KEEP": "key", "ONCE": "key", "STICKY": "key", "COOL": "key"}
NEW_BOOK = {"scan_depth": 1}


def test_what_was_called_before_counts_on_its_own_branch(alice: User) -> None:
    mira = made(alice, *TIMED, book=NEW_BOOK)
    first = ask(mira, "Hello.")
    assert (first.placed, first.dropped) == ({}, {"DELAY": "delay"})
    start = Message.objects.get(companion=mira, role=Message.Role.ASSISTANT)
    assert ask(mira, "The dragon.").placed == ALL
    later = ask(mira, "And?")
    assert (later.placed, later.dropped) == ({"KEEP": "kept", "STICKY": "sticky"}, {})
    again = ask(mira, "The dragon, hello.")
    assert again.placed == {"KEEP": "kept", "STICKY": "key", "DELAY": "key"}
    assert again.dropped == {"ONCE": "dont_activate_after_match", "COOL": "cooldown"}
    assert ("KEEP" in again.text, "ONCE" in again.text, "COOL" in again.text) == (True, False, False)

    fork(mira, start.pk, NOW)
    assert ask(mira, "And?").placed == {}
    assert ask(mira, "The dragon.").placed == ALL
    there = Branch.objects.get(companion=mira, left_at__isnull=False)
    choose(there, NOW)
    back = ask(mira, "A dragon.")
    assert (back.placed["KEEP"], back.dropped["ONCE"]) == ("kept", "dont_activate_after_match")
    assert back.placed["COOL"] == "key"  # it has cooled down here


def answered_again(sent: Sent) -> Sent:
    now = next_minute(sent.reply.companion)
    reply = claim(actions.retry(sent.reply, now).pk, now)
    assert reply
    turn = TurnContext(reply)
    turn.provider = get_provider()
    load_context(turn, now)
    compose(turn)
    record_call(turn, 1, now)
    end(turn, "Better.", now)
    return Sent(turn.reply)


def test_an_answer_made_again_counts_once(alice: User) -> None:
    mira = made(alice, *TIMED, book=NEW_BOOK)
    sent = ask(mira, "The dragon.")
    for _ in range(2):
        sent = answered_again(sent)
        assert sent.placed == ALL
    assert LoreFiring.objects.filter(companion=mira).count() == len(ALL)
    assert ask(mira, "And?").placed == {"KEEP": "kept", "STICKY": "sticky"}


def test_what_is_hidden_or_deleted_meanwhile_is_counted_no_more_and_changes_nothing_else(alice: User) -> None:
    mira = made(alice, *TIMED, entry("@@reverse_depth 1\nEARLY"), book=NEW_BOOK)
    ask(mira, "Hi.", "Well?", "The dragon.")
    said = list(Message.objects.filter(companion=mira).order_by("said_at", "id"))
    remove(Companion.objects.get(pk=mira.pk), NOW, messages=said[:2])
    Message.objects.filter(pk__in=[message.pk for message in said[2:4]]).update(is_hidden=True)
    sent = ask(mira, "A dragon.")
    assert (sent.placed["KEEP"], sent.dropped["ONCE"]) == ("kept", "dont_activate_after_match")
    assert sent.dropped["COOL"] == "cooldown"
    assert len(said) == 6
    assert sent.talk[0][1].startswith("The dragon.")
    assert sent.talk[0][1].endswith("EARLY\n</kith-persona>")  # behind the one that is now the first

"""The tools as they are offered and called: each with a handler, none in vain, none without bounds."""

import json
from typing import Any

import pytest

from companions import tools
from companions.answers.cleaner import Names, clean_text
from companions.models import Companion
from companions.prompting.history import DEEDS
from companions.replies.context import TurnContext
from companions.tools.more_tools import GROUPS
from companions.tools.registry import (
    ALWAYS,
    FORMER,
    TOOLS,
    WAKING_TOOLS,
    describe_done,
    describe_under_way,
)
from memory.core_memory import write_block
from memory.models.core_memory import By
from memory.store import keep_fact
from providers.rehearsal.talk import answer
from providers.tokens import estimate, estimate_messages
from tests.companions.tools.conftest import NOW, end, log, turn_of, use
from tests.fixtures.turns import end_session

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]
OFFERED = [one["function"] for one in tools.get_offers(GROUPS)]
# Of the tools that every turn offers, of which each name of a group takes some 9: raise it with why.
MOST_TOKENS = 780
GOOD: dict[str, dict[str, Any]] = {
    "remember": {"text": "Alice eats rye.", "old": "oats"},
    "forget": {"words": "the oats"},
    "recall": {"words": "oats"},
    "search_conversation": {"words": "oats"},
    "look_up": {},
    "block_append": {"block": "plans", "text": "swim"},
    "block_replace": {"block": "plans", "old": "walk", "new": "run"},
    "note": {"text": "She seems tired."},
    "set_timer": {"schedule": "5min", "text": "the tea is ready"},
    "list_timers": {},
    "cancel_timer": {"timer": "the evening's"},
    "more_tools": {"group": "search"},
}
BAD = [
    *("", "{", "[]", '"tea"', "null", "7", '{"text": 5}', '{"text": ""}', '{"text": null, "cue": []}'),
    '{"text": "a\\u0000b", "cue": "a\\u0000b", "words": "a\\u0000b", "document": "a\\u0000", "block": "a\\u0000"}',
    '{"text": "\\ud800", "cue": "\\ud800", "words": "\\ud800", "day": "\\ud800", "block": "\\ud800"}',
    json.dumps(dict.fromkeys(("text", "cue", "words", "document", "block", "memory", "slot"), "x" * 20000)),
]
# Those of BAD that a tool takes: because its arguments all have defaults, and none of what they name is one of them; or
# because one argument under a strange name is taken for the only one that lacks.
TAKEN = {
    "look_up": ("", '{"text": 5}', '{"text": ""}', '{"text": null, "cue": []}'),
    "list_timers": tuple(arguments for arguments in BAD if not arguments or arguments.startswith('{"')),
}


def test_every_tool_offered_has_a_handler_that_does_its_work(mira: Companion) -> None:
    assert {one["name"] for one in OFFERED} == GOOD.keys(), "give a new tool a valid call in GOOD"
    for name in GOOD:
        keep_fact(mira.pk, f"Alice eats oats, and so {name}.", NOW, NOW)
    write_block(mira.pk, "plans", "walk", by=By.USER, now=NOW)
    turn = turn_of(mira, "I eat rye now. Please forget the oats.")
    for name, arguments in GOOD.items():
        one = {"old": f"oats {name}"} if name == "remember" else {}
        one |= {"timer": str(mira.timers.get(name="evening").pk)} if "timer" in arguments else {}
        given = use(turn, name, **arguments | one)
        assert "error" not in given, name
        if name in DEEDS:  # a model may copy what it sees of it in the history, in the database's order
            for told in (given, dict(sorted(given.items(), key=lambda part: (len(part[0]), part[0])))):
                assert clean_text(json.dumps(told), Names("Mira", "Alice")) == ("", []), name


@pytest.mark.parametrize("name", GOOD)
def test_bad_arguments_give_an_error_that_can_be_mended(turn: TurnContext, name: str) -> None:
    for arguments in (one for one in BAD if one not in TAKEN.get(name, ())):
        given = tools.call(turn, name, arguments, NOW)
        assert given.keys() == {"error"}, (
            f"{name} takes {arguments!r}: let a field have no default, or put what it takes with reason in TAKEN"
        )
        assert given["error"] != tools.registry.FULL, arguments
        assert 0 < len(given["error"]) <= 1500, arguments


def test_the_history_shows_each_tool_that_changes_something() -> None:
    """Put a new tool that `writes` into DEEDS (prompting/history.py), and what it gives, if a model may copy it, into
    TOLD_BY_TOOLS (answers/lines.py).
    """
    assert {name for name, tool in TOOLS.items() if tool.writes} == {*DEEDS, "more_tools"} - FORMER.keys()


def test_people_are_told_of_each_tool_but_those_of_which_there_is_nothing_to_tell() -> None:
    assert TOOLS.keys() - describe_under_way("Mira").keys() == {"more_tools"}
    assert {*TOOLS, *WAKING_TOOLS, *FORMER} - describe_done().keys() == {"more_tools", "think"}


def test_an_unknown_tool_is_told_which_there_are(turn: TurnContext) -> None:
    assert "recall" in tools.call(turn, "delete_everything", "{}", NOW)["error"]


def test_one_argument_under_a_strange_name_is_taken_for_the_one_that_lacks(mira: Companion) -> None:
    keep_fact(mira.pk, "Alice eats oats.", NOW, NOW)
    turn = turn_of(mira, "Please forget the oats.")
    assert use(turn, "forget", about="the oats")["proposed"] == "the oats"
    assert "oats" in json.dumps(use(turn, "recall", query="oats"))
    assert "words" in use(turn, "recall", query="oats", language="English")["error"]


def names(offers: list[dict[str, Any]]) -> list[str]:
    return [one["function"]["name"] for one in offers]


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": "The person likes oats.", "slot": None, "old": None},
        {"text": "The person likes oats.", "slot": "", "old": "null"},
        {"text": ["The person likes oats."]},
        {"parameters": {"text": "The person likes oats."}},
        '{"text": "The person likes oats."}',
    ],
    ids=str,
)
def test_arguments_are_taken_as_small_models_write_them(mira: Companion, arguments: Any) -> None:
    turn = turn_of(mira, "Remember that I like oats.")
    given = tools.call(turn, "remember", json.dumps(arguments), NOW)
    assert given == {"remembered": "The person likes oats."}


def test_every_group_can_be_asked_for_and_what_every_turn_offers_stays_small(mira: Companion) -> None:
    taken = estimate(json.dumps(tools.get_offers(), ensure_ascii=False))
    assert taken <= MOST_TOKENS, f"every turn pays for {taken} tokens: be shorter, or raise MOST_TOKENS"
    turn = turn_of(mira)
    for name, group in GROUPS.items():
        given = use(turn, "more_tools", group=name)
        assert given["you_may_call_now"] == [tool.name for tool in group.tools]
    assert f"There are: {', '.join(GROUPS)}." in use(turn, "more_tools", group="music")["error"]


def test_a_group_that_is_asked_for_stands_at_the_end_for_the_rest_of_the_session(mira: Companion) -> None:
    turn = turn_of(mira)
    before = turn.offers
    assert use(turn, "more_tools", group="timers")["you_may_call_now"] == ["list_timers", "cancel_timer"]
    assert turn.offers[: len(before)] == before
    assert names(turn.offers)[len(before) :] == ["list_timers", "cancel_timer"]
    assert use(turn, "more_tools", group="timers")["group"] == "timers"
    end(turn)
    following = turn_of(mira, "And now?")
    use(following, "more_tools", group="search")
    assert names(following.offers)[len(before) :] == [
        "list_timers",
        "cancel_timer",
        "search_conversation",
        "look_up",
    ]
    end(following)
    end_session(mira)
    assert turn_of(mira, "Back again").offers == before


def test_what_is_not_offered_takes_no_room(mira: Companion) -> None:
    turn = turn_of(mira)
    before = turn.offered_tokens
    assert before == estimate(json.dumps(turn.offers, ensure_ascii=False))
    use(turn, "more_tools", group="notes")
    assert turn.offered_tokens > before


def test_a_small_context_is_offered_the_tools_that_matter_most(settings: Any) -> None:
    settings.CONTEXT_TOKENS = 1600
    some = names(tools.get_offers())
    assert {"remember", "recall"} <= {*some} < {tool.name for tool in ALWAYS}
    assert estimate(json.dumps(tools.get_offers(), ensure_ascii=False)) <= 400 + 2 * len(some)
    assert tools.get_offers() is tools.get_offers()


@pytest.mark.parametrize("text", ["a long day in the garden ", "花园里漫长的一天"])
def test_whatever_tools_give_the_prompt_fits_the_context(mira: Companion, settings: Any, text: str) -> None:
    settings.CONTEXT_TOKENS, settings.ANSWER_TOKENS = 6000, 500
    log(mira, *[f"{n} {text * 20}" for n in range(60)])
    turn = turn_of(mira, f"What about {text}?")
    for round in range(3):
        for day in range(6):
            given = use(turn, "search_conversation", words=text)
            assert given.get("messages") or round + day
            use(turn, "recall", words=text, count=20)
            use(turn, "look_up")
    # The calls themselves, and errors.
    assert estimate_messages(turn.prompt, tools.get_offers()) <= 5500 + 18 * 3 * 60
    assert use(turn, "search_conversation", words=text) == {"error": tools.registry.FULL}


@pytest.mark.parametrize("text", ["My password is hunter2", "Card 4111 1111 1111 1111", "我的密码是abc123"])
def test_nothing_that_looks_like_a_secret_is_kept_by_any_tool(
    mira: Companion, turn: TurnContext, text: str
) -> None:
    write_block(mira.pk, "plans", "walk", by=By.USER, now=NOW)
    asked = {"text": text, "slot": "", "block": "plans", "old": "walk", "new": text}
    for name in ("remember", "block_append", "block_replace", "note"):
        assert "not kept" in use(turn, name, **asked)["error"]
    assert "not kept" in use(turn, "remember", slot="door code", text="4711")["error"]
    assert not mira.slots.exists()
    assert mira.blocks.get().text == "walk"


def test_the_rehearsal_model_answers_from_what_is_always_in_mind() -> None:
    system = 'You are Mira, a companion.\n<kith-slots>\n- tea: "likes oolong, no sugar"\n</kith-slots>'
    asked = [
        {"role": "system", "content": system},
        {"role": "user", "content": "Do you know which tea I like?"},
    ]
    said, calls = answer(asked, [])
    assert "oolong" in said
    assert calls == []

"""Recall, search_conversation and look_up: originals, bounded, on record, and nothing that models may not see."""

import json
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest

from companions import deletion, tools
from companions.models import Companion, Message, Prompt
from companions.replies.context import TurnContext
from companions.replies.model_calls import record_call
from memory.models import DiaryEntry, Document, Memory, Page, Recall
from memory.store import keep_fact
from tests.companions.tools.conftest import NOW, end, log, turn_of, use

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("module_mira")]


def texts(given: dict[str, Any]) -> list[str]:
    return [one["text"] for one in given["messages"]]


# -- recall ---------------------------------------------------------------------------------------------------------


def test_recall_is_called_three_times_a_turn_and_no_more(mira: Companion, turn: TurnContext) -> None:
    for _ in range(3):
        assert "error" not in use(turn, "recall", words="walnuts")
    use(turn, "search_conversation", words="walnuts")
    assert "3 times" in use(turn, "recall", words="walnuts")["error"]
    end(turn)
    assert "error" not in use(turn_of(mira, "And now?"), "recall", words="walnuts")


def test_recall_finds_what_was_shown_before_in_this_turn_and_in_this_session(mira: Companion) -> None:
    fact = keep_fact(mira.pk, "Alice is allergic to walnuts.", NOW, NOW)
    first = turn_of(mira, "What about walnuts?")
    assert [one.memory for one in first.recalled] == [fact]
    found = use(first, "recall", words="walnuts")["remembered"]
    assert [(one["what"], one["text"]) for one in found] == [("Fact", fact.text)]
    assert use(first, "recall", words="walnuts")["remembered"] == found
    end(first)
    again = use(turn_of(mira, "Go on"), "recall", words="walnuts")["remembered"]
    assert fact.text in [one["text"] for one in again]


def test_recall_tells_days_in_the_users_zone(mira: Companion) -> None:
    mira.user.time_zone = "Asia/Shanghai"
    mira.user.save()
    late = datetime(2023, 5, 2, 20, tzinfo=UTC)  # the third, in Shanghai
    keep_fact(mira.pk, "Alice is allergic to walnuts.", late, late)
    [told] = use(turn_of(mira), "recall", words="walnuts")["remembered"]
    assert told["when"] == "Wed 3 May 2023"


# -- search_conversation --------------------------------------------------------------------------------------------


def test_what_was_said_in_a_game_says_so(mira: Companion) -> None:
    log(mira, "Let's pretend we are at sea.", "Aye!", "I am the captain of this ship.", days_ago=3)
    log(mira, "The captain of our ship was rude.", days_ago=9)
    log(mira, "Hello.", "*smiles* Welcome.", "A captain called me.", days_ago=6)
    [played, after_a_smile, plain] = use(turn_of(mira), "search_conversation", words="captain")["messages"]
    assert (played["text"], played.get("note")) == (
        "I am the captain of this ship.",
        "maybe in a game or a story",
    )
    assert "note" not in plain
    assert "note" not in after_a_smile


def test_what_was_said_is_found_by_its_words_newest_first(mira: Companion) -> None:
    log(mira, "The red bicycle is old.", "A bicycle, red?", "Nothing of it.", days_ago=3)
    log(mira, "My red bicycle was stolen.", days_ago=90)
    given = use(turn_of(mira), "search_conversation", words="red bicycles")
    assert texts(given) == ["A bicycle, red?", "The red bicycle is old.", "My red bicycle was stolen."]
    assert [one["who"] for one in given["messages"]] == ["You", "Alice", "Alice"]
    assert given["older_ones_not_shown"] == 0
    at = (NOW - timedelta(days=90)).astimezone(mira.user.zone)
    assert given["messages"][-1]["when"] == f"{at:%a %Y-%m-%d %H:%M}"


def test_chinese_is_found(tian: Companion) -> None:
    log(tian, "我的红色自行车昨天被偷了。", "真可惜。", "我喜欢绿茶。")
    assert texts(use(turn_of(tian), "search_conversation", words="自行车")) == ["我的红色自行车昨天被偷了。"]


def test_days_are_the_users_own(mira: Companion) -> None:
    """Alice lives in Berlin: 23:30 UTC is her next day."""
    late = NOW.replace(year=2024, month=5, day=1, hour=23, minute=30)
    log(mira, "Good night.", days_ago=(NOW - late) / timedelta(days=1))
    turn = turn_of(mira)
    assert texts(use(turn, "search_conversation", since="2024-05-02", until="2024-05-02")) == ["Good night."]
    assert texts(use(turn, "search_conversation", words="night", until="2024-05-01")) == []
    assert texts(use(turn, "search_conversation", words="night", since="2024-05-03")) == []


@pytest.mark.parametrize(
    "days",
    [
        *({"since": "0001-01-01"}, {"until": "9999-12-31"}, {"since": "2024-02-30"}, {"since": "soon"}, {}),
        {"since": "2024-05-02", "until": "2024-05-01"},
    ],
)
def test_days_that_cannot_be_are_errors(turn: TurnContext, days: dict[str, str]) -> None:
    assert use(turn, "search_conversation", **days)["error"]


def test_nothing_hidden_private_or_anothers_is_found(mira: Companion, tian: Companion) -> None:
    log(mira, "walnut one", "walnut two", "walnut three")
    log(tian, "walnut four")
    Message.objects.filter(text="walnut one").update(is_hidden=True)
    Memory.objects.filter(text="walnut two").update(is_private=True)
    turn = turn_of(mira)
    assert texts(use(turn, "search_conversation", words="walnut")) == ["walnut three"]
    assert texts(use(turn, "search_conversation", until="2100-01-01"))[0] == "walnut three"


def test_many_are_bounded_and_counted(mira: Companion) -> None:
    log(mira, *[f"walnut {n}" for n in range(50)])
    given = use(turn_of(mira), "search_conversation", words="walnut")
    assert texts(given)[0] == "walnut 49"
    assert len(given["messages"]) == 20
    assert given["older_ones_not_shown"] == 30


def test_the_question_does_not_find_itself(mira: Companion) -> None:
    assert texts(use(turn_of(mira, "What of walnuts?"), "search_conversation", words="walnuts")) == []


def test_what_a_search_showed_goes_from_the_prompt_when_it_is_deleted(mira: Companion) -> None:
    log(mira, "The word is zanzibar.")
    turn = turn_of(mira)
    use(turn, "search_conversation", words="word")
    record_call(turn, 2, NOW)
    assert "zanzibar" in str(Prompt.objects.get(round=2).messages)
    use(turn, "remember", text="The word is zanzibar.", slot="word")
    slot = mira.slots.get()
    said = Message.objects.get(text__contains="zanzibar")
    assert said in slot.sources.all()
    deletion.delete_message(said, NOW)
    assert not Prompt.objects.filter(round=2).exists()
    assert not Recall.objects.filter(cue="word").exists()


# -- look_up --------------------------------------------------------------------------------------------------------


@pytest.fixture
def diary(mira: Companion) -> list[DiaryEntry]:
    """Two closed sessions with their entries."""
    entries = []
    for n, word in enumerate(("lake", "wood")):
        at = datetime.combine(NOW - timedelta(days=20 - n), time(12), UTC)  # by whichever clock, the same day
        days_ago = (NOW - at) / timedelta(days=1)
        log(mira, f"We went to the {word}.", f"The {word} was cold.", days_ago=days_ago)
        session = Message.objects.get(text=f"We went to the {word}.").session
        told = f"A day at the {word}"
        memory = keep_fact(mira.pk, f"The {word}\n{told}", NOW, NOW)
        Memory.objects.filter(pk=memory.pk).update(kind="diary")
        entries.append(
            DiaryEntry.objects.create(
                **{"companion": mira, "session": session, "title": f"The {word}", "memory": memory},
                **{"started_at": at, "ended_at": at + timedelta(minutes=1), "made_at": NOW},
                sentences=[{"text": told, "sources": []}],
            )
        )
    return entries


def test_with_nothing_named_there_is_a_list(mira: Companion, diary: list[DiaryEntry]) -> None:
    given = use(turn_of(mira), "look_up")
    assert [(one["entry"], one["title"]) for one in given["diary"]] == [(2, "The wood"), (1, "The lake")]


def test_an_entry_leads_to_what_was_said_by_number_and_by_day(
    mira: Companion, diary: list[DiaryEntry]
) -> None:
    turn = turn_of(mira)
    given = use(turn, "look_up", entry=1)
    assert texts(given) == ["We went to the lake.", "The lake was cold."]
    by_day = use(turn, "look_up", day=f"{diary[1].get_day(mira.user.zone)}")
    assert by_day["title"] == "The wood"
    assert texts(use(turn, "look_up", entry=1, after=1)) == ["The lake was cold."]
    assert {diary[0].pk, diary[1].pk} <= turn.shown_ids


@pytest.mark.parametrize(
    ("named", "title"),
    [("yesterday", "The wood"), ("昨天", "The wood"), ("Mon 11 May", "The wood"), ("last Friday", "The lake"),
     ("Friday", "The lake"), ("上周五", "The lake"), ("2026-05-08T10:30", "The lake")],
)  # fmt: skip
def test_a_day_may_be_named_as_prompts_and_people_name_it(mira: Companion, named: str, title: str) -> None:
    tuesday = datetime(2026, 5, 12, 9, tzinfo=UTC)
    for days_ago, told in ((4, "The lake"), (1, "The wood")):
        at = tuesday - timedelta(days=days_ago)
        log(mira, f"{told} was cold.", days_ago=(NOW - at) / timedelta(days=1))
        session = Message.objects.get(text=f"{told} was cold.").session
        DiaryEntry.objects.create(
            companion=mira, session=session, title=told, started_at=at, ended_at=at, made_at=at
        )
    turn = turn_of(mira)
    assert tools.call(turn, "look_up", json.dumps({"day": named, "entry": ""}), tuesday)["title"] == title
    week = json.dumps({"since": "last week", "until": "last week"})
    assert texts(tools.call(turn, "search_conversation", week, tuesday)) == ["The lake was cold."]
    vague = tools.call(turn, "look_up", json.dumps({"day": "last week"}), tuesday)
    assert "write it as 2026-05-12" in vague["error"]


def test_a_day_is_first_that_of_the_entry_told_by_it(mira: Companion, diary: list[DiaryEntry]) -> None:
    lake, wood = diary
    after_midnight = wood.started_at.replace(hour=1)  # told as of the day before, and begun on the wood's
    DiaryEntry.objects.filter(pk=lake.pk).update(started_at=after_midnight, ended_at=after_midnight)
    given = use(turn_of(mira), "look_up", day=f"{wood.get_day(mira.user.zone)}")
    assert (given["title"], given["other_entries_of_the_day"]) == ("The wood", [1])


def test_a_question_shows_what_the_diary_says_of_it_with_the_day_to_ask_for(
    mira: Companion, diary: list[DiaryEntry]
) -> None:
    turn = turn_of(mira)
    given = use(turn, "look_up", words="How was it at the lake?")
    day = f"{diary[0].get_day(mira.user.zone)}"
    assert {"day": day, "title": "The lake", "text": "A day at the lake"} in given["gists"]
    assert given["best_pages"] == []
    assert diary[0].pk in turn.shown_ids
    assert texts(use(turn, "look_up", day=day)) == ["We went to the lake.", "The lake was cold."]


def test_an_entry_shows_nothing_hidden_and_a_private_one_nothing(
    mira: Companion, diary: list[DiaryEntry]
) -> None:
    Message.objects.filter(text="We went to the lake.").update(is_hidden=True)
    assert diary[1].memory
    Memory.objects.filter(pk=diary[1].memory.pk).update(is_private=True)
    turn = turn_of(mira)
    assert texts(use(turn, "look_up", entry=1)) == ["The lake was cold."]
    assert "no such" in use(turn, "look_up", entry=2)["error"]
    assert [one["entry"] for one in use(turn, "look_up")["diary"]] == [1]


def test_a_page_is_read_as_it_is_and_read_on(mira: Companion, tian: Companion) -> None:
    book = Document.objects.create(companion=mira, title="A Book", characters=8000, given_at=NOW)
    whole = "".join(f"word{n} " for n in range(2000))
    Page.objects.create(companion=mira, document=book, number=1, text=whole)
    turn = turn_of(mira)
    given = use(turn, "look_up", document="a book", pages=[1])
    begun = given["pages"][0]["text"].removesuffix(" … (cut)")
    assert 100 < len(begun) < len(whole)
    on = use(turn, "look_up", document="A Book", pages=[1], after=len(begun))["pages"][0]["text"]
    assert whole.startswith(begun + on.removesuffix(" … (cut)"))
    assert use(turn, "look_up")["documents"] == ["A Book"]
    assert "no such page" in use(turn, "look_up", document="A Book", pages=[2])["error"]
    assert "no such page" in use(turn_of(tian), "look_up", document="A Book", pages=[1])["error"]


def test_a_page_kept_from_models_is_not_read_and_a_deleted_one_says_so(mira: Companion) -> None:
    book = Document.objects.create(companion=mira, title="A Book", characters=80, given_at=NOW)
    for number in (1, 2):
        gist = keep_fact(mira.pk, f"The gist of page {number}.", NOW, NOW)
        Memory.objects.filter(pk=gist.pk).update(kind="gist", is_private=number == 1)
        Page.objects.create(companion=mira, document=book, number=number, text="word", gist="…", memory=gist)
    turn = turn_of(mira)
    assert "no such page" in use(turn, "look_up", document="A Book", pages=[1])["error"]
    assert use(turn, "look_up", document="A Book", pages=[2])["pages"][0]["text"] == "word"
    end(turn)
    deletion.forget(Memory.objects.get(page__number=2), NOW)
    assert use(turn_of(mira), "look_up", document="A Book", pages=[2])["error"] == "Page 2 of it was deleted."

"""Reading talks: both shapes of file, and the traps that they hold."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bench.recall.reading import DataError, evidence, talks
from bench.recall.talk import Talk


def turn(id: str, speaker: str, text: str, **more: str) -> dict[str, str]:
    return {"dia_id": id, "speaker": speaker, "text": text, **more}


def locomo(**changed: Any) -> list[dict[str, Any]]:
    """A small file of LoCoMo's shape; `changed` replaces parts of its conversation."""
    conversation = {
        "speaker_a": "Ann",
        "speaker_b": "Ben",
        "session_2_date_time": "12:05 am on 9 May, 2023",
        "session_2": [turn("D2:1", "Ben", "How was the kiln?"), turn("D2:02", "Ann", "Hot.")],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [turn("D1:1", "Ann", "My bowl!", blip_caption="a blue bowl")],
        "session_3_date_time": "1:56 pm on 1 June, 2023",
        "session_10_date_time": "2:10 pm on 2 June, 2023",
        "session_10": [turn("D10:1", "Ben", "Good night.")],
    }
    qa = [
        {"question": "What did Ann make?", "answer": 1, "evidence": ["D1:1; D2:2"], "category": 1},
        {"question": "And who?", "adversarial_answer": "Ben", "evidence": [], "category": 5},
        {"question": "And whose?", "answer": "Ann", "evidence": ["D9:9", "D"], "category": 4},
        {"question": "And why?", "answer": "Ann", "category": 3},
        {"question": "When was it?", "answer": 2023, "evidence": ["D:2:01"], "category": 2},
    ]
    return [{"sample_id": "conv-1", "conversation": conversation | changed, "qa": qa}]


def realtalk() -> dict[str, Any]:
    said = {"speaker": "Cy", "dia_id": "D1:1", "clean_text": "Look!", "date_time": "29.12.2023, 22:42:04"}
    shown = {"speaker": "Di Doe", "dia_id": "D1:2", "text": "", "blip_caption": "a cat"}
    empty = {"speaker": "Cy", "dia_id": "D1:3", "clean_text": "", "date_time": "29.12.2023, 22:50:00"}
    return {
        "name": {"speaker_1": "Someone", "speaker_2": "Else"},
        "session_1_date_time": "29.12.2023, 22:42:04",
        "session_1": [said, shown, empty],
        "events_session_1": {"agent_a": []},
        "qa": [{"question": "What did Di show?", "evidence": "D1:2, D1:3", "category": 1}],
    }


def read(folder: Path, held: Any, name: str = "talk.json") -> list[Talk]:
    (folder / name).write_text(held if isinstance(held, str) else json.dumps(held))
    return talks([folder])


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        (["D8:6; D9:17"], {"D8:6", "D9:17"}),
        (["D:11:26"], {"D11:26"}),
        (["D30:05"], {"D30:5"}),
        (["D9:1 D4:4 D4:6"], {"D9:1", "D4:4", "D4:6"}),
        (["D"], set()),
        ([], set()),
        (None, set()),
        ("D1:2, D1:3", {"D1:2", "D1:3"}),
    ],
)
def test_evidence_is_read_however_it_is_written(given: object, ids: set[str]) -> None:
    assert evidence(given) == ids


def test_only_questions_with_evidence_that_exists_count(tmp_path: Path) -> None:
    (talk,) = read(tmp_path, locomo())
    assert [(one.text, one.category_name, one.evidence) for one in talk.questions] == [
        ("What did Ann make?", "multi-hop", {"D1:1", "D2:2"}),
        ("When was it?", "temporal", {"D2:1"}),
    ]


def test_sessions_come_in_the_order_of_their_numbers_and_dates_alone_are_none(tmp_path: Path) -> None:
    (talk,) = read(tmp_path, locomo())
    assert [[one.id for one in session] for session in talk.sessions] == [
        ["D1:1"],
        ["D2:1", "D2:2"],
        ["D10:1"],
    ]
    assert (talk.user, talk.companion) == ("Ann", "Ben")
    assert [one.is_users for one in talk.turns] == [True, False, True, False]


def test_a_turn_is_said_a_minute_after_the_one_before_it(tmp_path: Path) -> None:
    (talk,) = read(tmp_path, locomo())
    assert talk.turns[0].at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert [one.at.minute for one in talk.sessions[1]] == [5, 6]
    assert talk.asked_at == datetime(2023, 6, 3, 14, 10, tzinfo=UTC)


def test_what_a_photo_shows_is_part_of_what_was_said(tmp_path: Path) -> None:
    (talk,) = read(tmp_path, locomo())
    assert talk.turns[0].text == "My bowl!\n[photo: a blue bowl]"


def test_a_file_of_realtalks_shape_is_one_talk_between_those_who_speak(tmp_path: Path) -> None:
    (talk,) = read(tmp_path, realtalk(), "Chat_1_Cy_Di.json")
    assert (talk.name, talk.user, talk.companion) == ("Chat_1_Cy_Di", "Cy", "Di Doe")
    assert [(one.id, one.text) for one in talk.turns] == [("D1:1", "Look!"), ("D1:2", "[photo: a cat]")]
    assert talk.turns[0].at == datetime(2023, 12, 29, 22, 42, 4, tzinfo=UTC)
    assert talk.questions[0].evidence == {"D1:2"}


def test_a_folder_stands_for_its_files(tmp_path: Path) -> None:
    (tmp_path / "Chat_1.json").write_text(json.dumps(realtalk()))
    assert [one.name for one in read(tmp_path, locomo())] == ["Chat_1", "conv-1"]


@pytest.mark.parametrize(
    ("held", "why"),
    [
        ("not json", "this is no JSON"),
        ("{}", "neither LoCoMo's shape"),
        ("3", "neither LoCoMo's shape"),
        ("[1]", "neither LoCoMo's shape"),
        ('{"qa": []}', "neither LoCoMo's shape"),
        ("[]", "no question with evidence"),
        (locomo(session_1_date_time="yesterday"), "'yesterday' is no time"),
        (locomo(session_1=[{"speaker": "Ann", "text": "Hm."}]), "dia_id"),
        (locomo(session_1=[turn("first", "Ann", "Hm.")]), "talk.json"),
    ],
)
def test_a_file_of_another_shape_is_refused_with_its_reason(tmp_path: Path, held: Any, why: str) -> None:
    with pytest.raises(DataError, match=why):
        read(tmp_path, held)


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nowhere"):
        talks([tmp_path / "nowhere.json"])
    with pytest.raises(DataError, match=r"there is no \*.json"):
        talks([tmp_path])

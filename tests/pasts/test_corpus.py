"""Earlier talk in every form and habit: what is read is what was written."""

from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pasts.formats import looks_like_past, parse
from pasts.past import FORMS, PastFile, PastFormatError, TextPattern
from pasts.reader import REFUSALS, REMARKS, PastError, choose_person, read_answer, read_past
from pasts.times import read_time
from tests.cards.corpus import files as cards
from tests.pasts.corpus import (
    CORPUS,
    PLAIN,
    TALK,
    TIMES,
    ZONE,
    Case,
    Raw,
    cai_history,
    cai_turns,
    chatgpt,
    chatgpt_node,
    claude_message,
    deepseek_node,
    dumped,
    jsonl,
    kobold,
    leaf,
    paths,
    risu_chat,
    sillytavern_lines,
    text_of,
)


def read(content: bytes, pattern: TextPattern | None = None) -> PastFile:
    """What the sandbox answers, and what is made of that, in this process."""
    body = BytesIO()
    form, collector = parse(BytesIO(content), body, pattern)
    head = {"form": form, "pattern": collector.pattern, "remarks": sorted(collector.remarks)}
    return read_answer(head, body.getvalue(), ZONE)


def test_there_are_enough_of_them() -> None:
    assert len(CORPUS) >= 80
    assert {case.form for case in CORPUS.values()} == set(FORMS)


@pytest.mark.parametrize("name", CORPUS)
def test_what_is_read_is_what_was_written(name: str) -> None:
    case = CORPUS[name]
    content = case.make()
    file = read(content, case.pattern)
    assert (file.form, len(file.pasts)) == (case.form, case.pasts)
    assert set(file.remarks) <= REMARKS.keys()
    chosen = tuple(line.text for line in TALK)
    for past in file.pasts:
        assert paths(past) == case.found
        assert leaf(past) == chosen
    assert read(content, case.pattern) == file  # ids too


@pytest.mark.parametrize("name", [name for name, case in CORPUS.items() if not case.pattern])
def test_it_is_told_from_other_files(name: str) -> None:
    case: Case = CORPUS[name]
    # Five lines without a date, three of them a message's own, may be any text.
    assert looks_like_past(BytesIO(case.make())) or (case.form == "text" and "{date}" not in name)


def test_a_text_without_dates_looks_like_a_talk_once_two_speak_in_turn() -> None:
    talk = [line._replace(speaker=line.speaker.replace("Keeper", "Mara")) for line in PLAIN] * 3
    assert looks_like_past(BytesIO(text_of("{name}: {text}", talk).encode()))


OTHERS = {
    "nothing": b"",
    "a letter": b"Dear Mara,\nI write: because of the storm.\nNote: bring oil.\nYours: Ann\n",
    "a mail": b"From: ann@example.org\nTo: mara@example.org\nSubject: Oil\nDate: today\n\nBring oil.\n",
    "a mind": dumped({"selfName": "x", "longTermMemory": [], "shortTermMemory": [], "archivedMemory": []}),
    "a Kith": dumped({"format": "kith", "version": 1, "messages": []}),
    "a list of numbers": b"[1, 2, 3]",
    "Markdown": b"# Title\n\n- one: two\n- three: four\n",
    "a table": b"date,name,text\n2024-05-01,Ann,Hi\n2024-05-02,Mara,Yo\n",
    "a program": b"\x7fELF" + bytes(1000),
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(1000),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_files_do_not_look_like_a_past(name: str) -> None:
    assert not looks_like_past(BytesIO(OTHERS[name]))


def test_no_card_looks_like_a_past() -> None:
    assert not [name for name, _form, make in cards() if looks_like_past(BytesIO(make()))]


# -- habits ----------------------------------------------------------------------------------------------------------


def said(file: PastFile) -> list[str]:
    return [message.text for past in file.pasts for message in past.messages]


def sillytavern(**fields: Any) -> PastFile:
    """A chat whose second message has these fields."""
    lines = sillytavern_lines(PLAIN)
    lines[2] |= fields
    return read(jsonl(lines))


SILLYTAVERN_HABITS: dict[str, tuple[Raw, bool, set[str]]] = {
    "hidden from the model, and said all the same": ({"is_system": True}, True, set()),
    "a narrator": ({"extra": {"type": "narrator"}}, False, {"system_left_out"}),
    "a comment": ({"extra": {"type": "comment"}, "is_system": True}, False, {"system_left_out"}),
    "a kind of another program's": ({"extra": {"type": "voice"}}, True, set()),
    "its own help": ({"name": "SillyTavern System", "is_system": True}, False, {"system_left_out"}),
    "a tool": ({"extra": {"tool_invocations": [{"name": "x"}]}}, False, {"tools_left_out"}),
    "reasoning beside": ({"extra": {"reasoning": "Hm."}}, True, {"reasoning_left_out"}),
    "a picture beside": ({"extra": {"image": "user/images/a.png"}}, True, {"files_left_out"}),
    "a picture alone": ({"mes": "", "extra": {"media": [{}]}}, False, {"files_left_out"}),
    "no time": ({"send_date": ""}, True, {"times_missing"}),
    "no text": ({"mes": None}, False, set()),
    "extra of another type": ({"extra": "x", "swipes": {"0": "x"}, "swipe_info": 3}, True, set()),
}


@pytest.mark.parametrize("habit", SILLYTAVERN_HABITS)
def test_a_habit_of_sillytavern_is_understood(habit: str) -> None:
    fields, is_kept, remarks = SILLYTAVERN_HABITS[habit]
    file = sillytavern(**fields)
    assert set(file.remarks) - {"times_local"} == remarks
    assert said(file) == [line.text for line in PLAIN if is_kept or line is not PLAIN[1]]
    assert leaf(file.pasts[0]) == tuple(said(file))  # what follows hangs on what is left


def test_reasoning_within_an_answer_is_left_out() -> None:
    file = read(jsonl([{"name": "Mara", "is_user": False, "mes": "<think>\nHm.\n</think>\n\nYes."}]))
    assert (said(file), file.remarks) == (["Yes."], ("reasoning_left_out", "times_missing"))


def test_a_chat_that_went_on_keeps_the_ids_of_what_it_had() -> None:
    first, later = read(jsonl(sillytavern_lines(TALK[:3]))), read(jsonl(sillytavern_lines(TALK)))
    assert later.pasts[0].messages[: len(first.pasts[0].messages)] == first.pasts[0].messages
    assert first.pasts[0].id == later.pasts[0].id == "0b1c-77"


CHATGPT_HABITS: dict[str, tuple[Raw, str | None, set[str]]] = {
    "a tool": ({"author": {"role": "tool", "name": "browser"}}, None, {"tools_left_out"}),
    "a call of a tool": ({"recipient": "dalle.text2im"}, None, {"tools_left_out"}),
    "code": ({"content": {"content_type": "code", "text": "1+1"}}, None, {"tools_left_out"}),
    "thoughts": ({"content": {"content_type": "thoughts", "thoughts": []}}, None, {"reasoning_left_out"}),
    "a recap": ({"content": {"content_type": "reasoning_recap"}}, None, {"reasoning_left_out"}),
    "instructions": (
        {"content": {"content_type": "user_editable_context", "user_profile": "x"}},
        None,
        {"system_left_out"},
    ),
    "hidden": ({"metadata": {"is_visually_hidden_from_conversation": True}}, None, {"hidden_left_out"}),
    "no content": ({"content": None}, None, set()),
    "pictures and words": (
        {"content": {"content_type": "multimodal_text", "parts": [{"asset_pointer": "x"}, "Look", "here"]}},
        "Look\nhere",
        {"files_left_out"},
    ),
    "speech": (
        {
            "content": {
                "content_type": "multimodal_text",
                "parts": [{"content_type": "audio_transcription", "text": "Hello"}],
            }
        },
        "Hello",
        set(),
    ),
    "citations": (
        {
            "content": {
                "content_type": "text",
                "parts": ["Yes\ue200cite\ue202turn0search1\ue201.【3†source】【4:0†notes.pdf】"],
            }
        },
        "Yes.",
        {"citations_left_out"},
    ),
    "no time": ({"create_time": None}, "Yes", {"times_missing"}),
    "a time beyond all": ({"create_time": 10**400}, "Yes", {"times_missing"}),
    "another time": ({"create_time": None, "update_time": 1.7e9}, "Yes", set()),
}


@pytest.mark.parametrize("habit", CHATGPT_HABITS)
def test_a_habit_of_chatgpt_is_understood(habit: str) -> None:
    fields, text, remarks = CHATGPT_HABITS[habit]
    nodes = [
        chatgpt_node("0", None, ["1"]),
        chatgpt_node("1", "0", ["2"], "user", "Is it lit?", 1.7e9),
        chatgpt_node("2", "1", ["3"], "assistant", "Yes", 1.7e9, **fields),
        chatgpt_node("3", "2", [], "user", "Good.", 1.7e9),
    ]
    file = read(dumped([{"mapping": {node["id"]: node for node in nodes}, "current_node": "3"}]))
    assert set(file.remarks) - {"empty_left_out"} == remarks
    assert leaf(file.pasts[0]) == tuple(filter(None, ("Is it lit?", text, "Good.")))


TREES: dict[str, tuple[dict[str, str | None], set[tuple[str, ...]]]] = {
    "a parent that is not there": ({"a": None, "b": "gone"}, {("a",), ("b",)}),
    "its own parent": ({"a": "a", "b": "a"}, {("a",), ("a", "b")}),
    "a circle": ({"a": "c", "b": "a", "c": "b"}, {("a",), ("a", "b"), ("a", "b", "c")}),
    "a circle beside": ({"a": None, "b": "c", "c": "b"}, {("a",), ("b",), ("b", "c")}),
}


@pytest.mark.parametrize("name", TREES)
def test_a_tree_that_is_none_becomes_one(name: str) -> None:
    parents, found = TREES[name]
    nodes = {key: chatgpt_node(key, parent, [], "user", key) for key, parent in parents.items()}
    past = read(dumped([{"mapping": nodes}])).pasts[0]
    assert paths(past).keys() == found


def test_a_conversation_of_twenty_thousand_in_a_row_is_read() -> None:
    nodes = {
        str(n): chatgpt_node(str(n), str(n - 1) if n else None, [], "user", str(n)) for n in range(20_000)
    }
    past = read(dumped([{"mapping": nodes, "current_node": "19999"}])).pasts[0]
    assert len(leaf(past)) == len(past.messages) == 20_000


def test_groups_keep_the_names_of_those_who_speak() -> None:
    past = read(jsonl(sillytavern_lines(header={}))).pasts[0]
    assert {message.speaker for message in past.messages} == {"Mara", "Ann Lee", "Keeper"}


def test_character_ai_keeps_the_ids_of_its_messages() -> None:
    old, new = read(dumped(cai_history())).pasts[0], read(dumped(cai_turns())).pasts[0]
    assert [message.id for message in old.messages][:4] == ["1000", "1001", "1002", "2000"]
    assert (old.id, new.leaf) == ("cai-1", "4-0")


def test_where_the_chosen_answer_of_character_ai_says_nothing_the_talk_ends_in_another() -> None:
    [turn] = cai_turns(TALK[:1])
    turn["candidates"] = [
        {"candidate_id": "empty", "raw_content": ""},
        {"candidate_id": "other", "raw_content": "Hm."},
    ]
    turn["primary_candidate_id"] = "empty"
    [past] = read(dumped({"turns": [turn]})).pasts
    assert (past.leaf, [message.text for message in past.messages]) == ("other", ["Hm."])


def test_risuai_says_that_the_greeting_is_elsewhere() -> None:
    chat = risu_chat()
    chat["message"][1] |= {"data": "Look {{inlay::9f-1}}", "disabled": True}
    chat["message"].append({"role": "char", "data": "note", "isComment": True})
    file = read(dumped({"type": "risuChat", "ver": 2, "data": chat}))
    assert set(file.remarks) == {"greeting_missing", "files_left_out", "system_left_out"}
    assert said(file)[1] == "Look "
    assert file.pasts[0].messages[0].id == "9f-0"


def test_the_ids_by_which_risuai_tells_who_speaks_are_no_names() -> None:
    chat = risu_chat()
    ids = iter(["6b1f-mara", "9c00-keeper"] * 3)
    for message in chat["message"]:
        del message["name"]
        message |= {"saying": next(ids)} if message["role"] == "char" else {}
    file = read(dumped({"type": "risuChat", "ver": 2, "data": chat}))
    speakers = [message.speaker for message in file.pasts[0].messages]
    assert speakers == ["assistant", "user", "assistant 2", "user", "assistant"]


def test_the_export_of_deepseek_is_not_taken_for_that_of_chatgpt() -> None:
    message = {
        "fragments": [{"type": "REQUEST", "content": "Hi"}],
        "inserted_at": "2025-02-01T10:00:00+08:00",
    }
    node = {"id": "1", "parent": None, "children": [], "message": message}
    content = dumped([{"id": "x", "title": "x", "inserted_at": "2025-02-01", "mapping": {"1": node}}])
    assert looks_like_past(BytesIO(content))
    assert read(content).form == "deepseek"


def fragments(*parts: tuple[str, object], **more: object) -> Raw:
    return {"fragments": [{"type": kind, "content": content} for kind, content in parts], **more}


DEEPSEEK_HABITS: dict[str, tuple[Raw, str, set[str]]] = {
    "reasoning": (fragments(("THINK", "Hm."), ("RESPONSE", "Yes")), "Yes", {"reasoning_left_out"}),
    "reasoning alone": (fragments(("THINK", "Hm.")), "", {"reasoning_left_out"}),
    "older reasoning": ({"content": "Yes", "reasoning_content": "Hm."}, "Yes", {"reasoning_left_out"}),
    "a search": (
        fragments(
            ("TOOL_SEARCH", None), ("RESPONSE", "Yes [citation:3]."), ("SEARCH", 1), ("RESPONSE", "It is.")
        ),
        "Yes.\n\nIt is.",
        {"tools_left_out", "citations_left_out"},
    ),
    "an older search": ({"content": "Yes", "search_results": [{"url": "x"}]}, "Yes", {"tools_left_out"}),
    "a file": (fragments(("FILE", None), ("RESPONSE", "Yes"), files=[{}]), "Yes", {"files_left_out"}),
    "no fragments": ({"fragments": [], "content": "Yes", "role": "ASSISTANT"}, "Yes", set()),
    "nothing": ({"fragments": None}, "", set()),
    "other types": (
        {"fragments": [1, None, [], {"type": []}, {"type": "RESPONSE", "content": {}}]},
        "",
        set(),
    ),
    "fragments that are none": ({"fragments": {"type": "RESPONSE"}, "content": [1], "role": 5}, "", set()),
}


@pytest.mark.parametrize("habit", DEEPSEEK_HABITS)
def test_a_habit_of_deepseek_is_understood(habit: str) -> None:
    message, text, remarks = DEEPSEEK_HABITS[habit]
    at = {"inserted_at": "2025-02-01T10:00:00+08:00"}
    nodes = [
        deepseek_node("root", None, ["9"]),
        deepseek_node("9", "root", ["10"], fragments(("REQUEST", "Is it lit?"), **at)),
        deepseek_node("10", "9", ["11"], message | at),  # a question and its answer have the same time
        deepseek_node("11", "10", [], fragments(("REQUEST", "Good."), **at)),
    ]
    file = read(dumped([{"mapping": {node["id"]: node for node in nodes}, "inserted_at": 5}]))
    assert set(file.remarks) == remarks
    assert leaf(file.pasts[0]) == tuple(filter(None, ("Is it lit?", text, "Good.")))
    assert [m.is_person for m in file.pasts[0].messages] == [True, *([False] if text else []), True]


CLAUDE_HABITS: dict[str, tuple[Raw, str, set[str]]] = {
    "thinking": (
        {"content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Yes"}]},
        "Yes",
        {"reasoning_left_out"},
    ),
    "tools": (
        {
            "text": "Yes\nThis block is not supported on your current device yet.\nIt is.",
            "content": [
                {"type": "text", "text": "Yes"},
                {"type": "tool_use", "name": "web_search", "input": {}},
                {"type": "tool_result", "content": [{"type": "text", "text": "x"}]},
                {"type": "text", "text": "It is."},
            ],
        },
        "Yes\n\nIt is.",
        {"tools_left_out"},
    ),
    "a paste": (
        {"content": [], "text": "", "attachments": [{"file_name": "", "extracted_content": "x"}]},
        "",
        {"files_left_out"},
    ),
    "a picture": ({"files": [{"file_name": "x.png"}]}, "Yes", {"files_left_out"}),
    "another sender": ({"sender": "system"}, "", {"system_left_out"}),
    "no sender": ({"sender": None}, "", {"system_left_out"}),
    "another time": ({"created_at": None}, "Yes", set()),
    "no time": ({"created_at": [], "updated_at": {}}, "Yes", {"times_missing"}),
    "no content": ({"content": None}, "Yes", set()),
    "parts of unknown types": ({"content": [{"text": "?"}, {"type": "aside"}]}, "Yes", set()),
    "other types": ({"content": [1, None, {"type": "text", "text": 5}, {"type": {}}], "text": 1}, "", set()),
    "an id that is another's": ({"uuid": "a"}, "Yes", set()),
    "no id": ({"uuid": None}, "Yes", set()),
}


@pytest.mark.parametrize("habit", CLAUDE_HABITS)
def test_a_habit_of_claude_is_understood(habit: str) -> None:
    fields, text, remarks = CLAUDE_HABITS[habit]
    at = "2025-02-01T10:00:00.000000Z"
    messages = [
        claude_message("a", "human", "Is it lit?", at),
        claude_message("b", "assistant", "Yes", at) | fields,
        claude_message("c", "human", "Good.", at),
    ]
    file = read(dumped([{"uuid": 5, "name": None, "chat_messages": messages}]))
    assert set(file.remarks) == remarks
    assert leaf(file.pasts[0]) == tuple(filter(None, ("Is it lit?", text, "Good.")))


def test_no_message_of_claude_is_lost_to_another_of_its_id() -> None:
    at = "2025-02-01T10:00:00Z"
    ids = ["abc#2", "abc", "abc", "abc#2", "abc"]
    messages = [claude_message(id, "human", f"{n}", at) for n, id in enumerate(ids)]
    assert leaf(read(dumped([{"chat_messages": messages}])).pasts[0]) == ("0", "1", "2", "3", "4")


def test_messages_of_claude_that_follow_each_other_in_a_circle_are_read_once() -> None:
    at = "2025-02-01T10:00:00Z"
    messages = [
        claude_message("a", "human", "a", at, parent_message_uuid="c"),
        claude_message("b", "assistant", "b", at, parent_message_uuid="a"),
        claude_message("c", "human", "c", at, parent_message_uuid="b"),
        claude_message("d", "assistant", "d", at, parent_message_uuid="d"),
        claude_message("e", "human", "e", at, parent_message_uuid="gone"),
    ]
    file = read(dumped([{"chat_messages": messages}]))
    assert paths(file.pasts[0]).keys() == {("a",), ("a", "b"), ("a", "b", "c"), ("d",), ("e",)}
    assert file.remarks == ("tree_mended",)


TEXTS: dict[str, tuple[str, list[tuple[str, str]], set[str]]] = {
    "the person in Chinese": (
        "林晚：你来了。\n我：下雨了。\n林晚：坐。\n我：好。",
        [("林晚", "你来了。"), ("我", "下雨了。"), ("林晚", "坐。"), ("我", "好。")],
        {"times_missing"},
    ),
    "notices and pictures": (
        "27/02/2024, 22:40 - Messages are end-to-end encrypted.\n27/02/2024, 22:41 - Ann: Hi\nthere\n"
        "27/02/2024, 22:42 - Mara: <Media omitted>\n27/02/2024, 22:43 - Mara: \u200eimage omitted\n"
        "27/02/2024, 22:44 - Mara: Yo: yes",
        [("Ann", "Hi\nthere"), ("Mara", "Yo: yes")],
        {"system_left_out", "files_left_out", "person_guessed", "times_local"},
    ),
    "words that look like names": (
        "Ann: Hi\nMara: Look at this\nNote: nothing\nhttp://example.org: x\nAnn: Yes\nMara: Good",
        [
            ("Ann", "Hi"),
            ("Mara", "Look at this\nNote: nothing\nhttp://example.org: x"),
            ("Ann", "Yes"),
            ("Mara", "Good"),
        ],
        {"person_guessed", "speakers_guessed", "times_missing"},
    ),
    "an example chat": (
        "<START>\n{{char}}: Hello.\n{{user}}: Hi\n{{char}}: Hm.\nEND_OF_DIALOG\n{{user}}: Bye",
        [("{{char}}", "Hello."), ("{{user}}", "Hi"), ("{{char}}", "Hm."), ("{{user}}", "Bye")],
        {"times_missing"},
    ),
    "only a time of day": (
        "[22:40] Ann: Hi\n[22:41] Mara: Yo",
        [("Ann", "Hi"), ("Mara", "Yo")],
        {"person_guessed", "times_missing"},
    ),
    "a heading": (
        "Our talk\n\n[2024-02-27 22:40] Ann: Hi\n[2024-02-27 22:41] Mara:\nYo\n\n",
        [("Ann", "Hi"), ("Mara", "Yo")],
        {"lines_left_out", "person_guessed", "times_local"},
    ),
    "days that could be months": (
        "[1/2/2024 22:40] Ann: Hi\n[1/2/2024 22:41] Mara: Yo",
        [("Ann", "Hi"), ("Mara", "Yo")],
        {"dates_guessed", "person_guessed", "times_local"},
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_habit_of_plain_text_is_understood(name: str) -> None:
    content, found, remarks = TEXTS[name]
    file = read(content.encode())
    assert [(message.speaker, message.text) for message in file.pasts[0].messages] == found
    assert set(file.remarks) == remarks


@pytest.mark.parametrize(
    ("dates", "day_first", "expected"),
    [
        (["1/2/2024", "2/2/2024", "1/3/2024"], None, (2024, 2, 1)),  # else it would go back
        (["1/2/2024", "1/3/2024", "2/1/2024"], None, (2024, 1, 2)),
        (["1/2/2024", "13/2/2024"], None, (2024, 2, 1)),
        (["1/2/2024", "1/13/2024"], None, (2024, 1, 2)),
        (["1/2/2024, 1:00 PM"], None, (2024, 1, 2, 13)),
        (["1.2.2024"], None, (2024, 2, 1)),
        (["1/2/2024"], True, (2024, 2, 1)),
        (["1/2/2024"], False, (2024, 1, 2)),
    ],
)
def test_days_and_months_are_told_apart(
    dates: list[str], day_first: bool | None, expected: tuple[int, int, int]
) -> None:
    content = "\n".join(f"[{date}] Ann: {number}" for number, date in enumerate(dates))
    pattern = TextPattern(template="[{date}] {name}: {text}", day_first=day_first)
    first = read(content.encode(), pattern).pasts[0].messages[0]
    assert first.at == datetime(*expected, tzinfo=ZONE)


@pytest.mark.parametrize(
    ("template", "code"),
    [
        ("", "pattern_without_name"),
        ("{name}", "pattern_without_text"),
        ("{text}", "pattern_without_name"),
        ("{name}{text}", "pattern_parts_touch"),
        ("{text}: {name}", "pattern_text_not_last"),
        ("{name}: {name}: {text}", "pattern_part_twice"),
        ("{date}{name}: {text}", "pattern_parts_touch"),
        ("{name}: {text} {date}", "pattern_text_not_last"),
        ("{name}: {text}.", "pattern_text_not_last"),
        ("{who}: {text}", "pattern_other_part"),
        ("[{date} {time}] {name}: {text}", "pattern_other_part"),
        ("x" * 300 + "{name}: {text}", "pattern_too_long"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused(template: str, code: str) -> None:
    with pytest.raises(PastFormatError) as told:
        read(b"Ann: Hi", TextPattern(template=template))
    assert told.value.code == code
    assert code in REFUSALS


def test_who_the_person_is_can_be_said_of_any_form() -> None:
    for name in ("SillyTavern, ISO", "ChatGPT many", "{name}: {text}"):
        file = read(CORPUS[name].make())
        speaker = file.pasts[0].messages[0].speaker
        chosen = choose_person(file, speaker)
        for past in chosen.pasts:
            assert all(message.is_person == (message.speaker == speaker) for message in past.messages)
        assert "person_guessed" not in chosen.remarks
    with pytest.raises(PastError) as told:
        choose_person(file, "Bob")
    assert told.value.code == "no_such_speaker"


@pytest.mark.parametrize("name", TIMES)
def test_each_way_of_telling_a_time_is_known(name: str) -> None:
    at = datetime(2024, 12, 1, 0, 5, tzinfo=ZONE)
    found = read_time(TIMES[name](at))
    assert found is not None
    assert (found if found.tzinfo else found.replace(tzinfo=ZONE)) == at


@pytest.mark.parametrize(
    "told",
    [
        None,
        True,
        "",
        "soon",
        0,
        -1,
        10**400,
        float("nan"),
        float("inf"),
        "1e400",
        "9" * 5000,
        [],
        {},
        "2024-02-30",
        "2024-13-01 @99h 00m 00s 0ms",
        "February 30, 2024 1:00pm",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59-23:59",
    ],
)
def test_what_is_no_time_is_none(told: object) -> None:
    assert read_time(told) is None


def test_an_adventure_of_koboldai_is_told_by_what_the_person_does() -> None:
    pieces = ["The gate is shut.", "\n\n> knock twice\n\n", "It opens. > is on it.[<|p|7|p|>]", "\n> go"]
    file = read(dumped(kobold(pieces, opmode=2)))
    [past] = file.pasts
    assert [(message.is_person, message.text) for message in past.messages] == [
        (False, "The gate is shut."),
        (True, "knock twice"),
        (False, "It opens. > is on it."),
        (True, "go"),
    ]
    assert "files_left_out" in file.remarks


def test_what_is_no_talk_in_a_story_of_koboldai_is_left_out() -> None:
    marked = "{{[SYSTEM]}}Be kind.{{[SYSTEM_END]}}{{[INPUT]}}Hi{{[INPUT_END]}}{{[OUTPUT]}}<think>x</think>Yo"
    file = read(dumped(kobold([marked])))
    assert (said(file), set(file.remarks)) == (
        ["Hi", "Yo"],
        {"system_left_out", "reasoning_left_out", "times_missing"},
    )
    begun = read(dumped(kobold(["A lamp burns.\nMara: Sit.\nAnn Lee: Yes.\nNote: oil."])))
    assert said(begun) == ["Sit.", "Yes.\nNote: oil."]


def test_a_pair_of_which_one_side_is_silent_is_one_message() -> None:
    pairs = [["Hi", ""], ["", "Yo"], [None, 3], "x"]
    file = read(dumped({"internal": pairs, "visible": [], "metadata": {"user_0": {"attachments": [1]}}}))
    assert (said(file), "files_left_out" in file.remarks) == (["Hi", "Yo"], True)


# -- talks that are made ---------------------------------------------------------------------------------------------

words = st.text(
    st.characters(exclude_characters="\0<", exclude_categories=["Cs", "Co"]), min_size=1, max_size=40
)
texts = words.filter(lambda text: bool(text.strip()) and "【" not in text and "\ufffd" not in text)
names = st.sampled_from(["Mara", "Ann Lee", "玛拉", "x" * 200, ""])
moments = st.none() | st.datetimes(
    datetime(1990, 1, 1),  # noqa: DTZ001
    datetime(2090, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
).map(lambda at: at.replace(microsecond=at.microsecond // 1000 * 1000))


@given(
    st.lists(
        st.tuples(names, st.booleans(), st.lists(texts, min_size=1, max_size=4), st.integers(0, 3), moments),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from(["\n", "\r\n", "\n\n"]),
)
def test_whatever_was_said_in_sillytavern_comes_back(turns: list[Any], end: str) -> None:
    lines, expected = [], []
    parent: str | None = None
    for number, (name, is_person, swipes, chosen, at) in enumerate(turns):
        chosen %= len(swipes)
        told = at and at.isoformat().replace("+00:00", "Z")
        lines.append(
            {"name": name, "is_user": is_person, "mes": swipes[chosen], "send_date": told, "swipes": swipes}
            | {"swipe_id": chosen}
        )
        order = [chosen, *(other for other in range(len(swipes)) if other != chosen)]
        expected += [(f"{number}.{other}", parent, name, is_person, swipes[other], at) for other in order]
        parent = f"{number}.{chosen}"
    past = read(jsonl(lines, end)).pasts[0]
    assert [(m.id, m.parent, m.speaker, m.is_person, m.text, m.at) for m in past.messages] == expected
    assert past.leaf == parent


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["user", "assistant", "system", "tool", ""]),
            texts,
            st.integers(-1, 30),
            moments,
        ),
        min_size=1,
        max_size=30,
    ),
    st.randoms(use_true_random=False),
)
def test_whatever_was_said_in_chatgpt_comes_back(made: list[Any], chance: Any) -> None:
    nodes: dict[str, Raw] = {}
    kept: dict[str, str | None] = {}  # each node's message, or the nearest above it
    expected: dict[str, tuple[str | None, str, datetime | None]] = {}
    for number, (role, text, above, at) in enumerate(made):
        key, parent = f"n{number}", f"n{above % number}" if number and above >= 0 else None
        nodes[key] = chatgpt_node(key, parent, [], role, text, at and at.timestamp())
        if parent:
            nodes[parent]["children"].append(key)
        kept[key] = kept[parent] if parent else None
        if role in {"user", "assistant"}:
            expected[key] = (kept[key], text, at)
            kept[key] = key
    shuffled = list(nodes)
    chance.shuffle(shuffled)
    current = f"n{len(made) - 1}"
    conversation = {"mapping": {key: nodes[key] for key in shuffled}, "current_node": current, "title": "x"}
    if not expected:
        with pytest.raises(PastFormatError):
            read(dumped([conversation]))
        return
    past = read(dumped([conversation])).pasts[0]
    assert {m.id: (m.parent, m.text) for m in past.messages} == {k: v[:2] for k, v in expected.items()}
    for message in past.messages:
        at = expected[message.id][2]
        assert message.at == at or (message.at and at and abs(message.at - at) < timedelta(milliseconds=1))
    assert past.leaf == (kept[current] or past.leaf)


# -- through the sandbox ---------------------------------------------------------------------------------------------

THROUGH = [
    "SillyTavern, American",
    "ChatGPT ZIP",
    "Claude ZIP",
    "DeepSeek ZIP",
    "Character.AI turns",
    "RisuAI all chats",
    "one's own pattern {date}|{name}|{text}",
]


@pytest.mark.parametrize("name", THROUGH)
def test_the_sandbox_reads_the_same(name: str) -> None:
    case = CORPUS[name]
    assert read_past(case.make(), case.pattern, zone=ZONE) == read(case.make(), case.pattern)


def test_the_person_is_chosen_as_it_is_read() -> None:
    file = choose_person(read_past(text_of("<{name}> {text}").encode()), "Ann Lee")
    assert [message.is_person for message in file.pasts[0].messages] == [line.is_person for line in PLAIN]
    assert chatgpt()["title"] == read_past(dumped(chatgpt())).pasts[0].title

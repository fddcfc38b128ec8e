"""DigitalLife's eight fields, in and out again; what is hostile among them changes nothing."""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import User
from companions.conversations.messages import load_path
from companions.models import Companion, Message, Session
from companions.transfer.digital_life import MAX_BYTES
from memory.models import DiaryEntry, Memory, Recalled, Revision
from tests.fixtures.rest import Api

pytestmark = pytest.mark.django_db
T = 1_700_000_000_000
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_memory", "arguments": '{"memoryDescription":"I and the user, tea"}'},
}
FIELDS: dict[str, Any] = {
    "selfName": "小叶子",
    "userName": "旅行者",
    "memoryAboutSelf": "我学心理学。我喜欢散步。",
    "memoryAboutUser": "The user likes tea. The user lives in Porto.",
    "longTermMemory": [
        {
            "uuid": "b",
            "startTime": T + 500_000,
            "endTime": T + 600_000,
            "title": "Rain",
            "summary": "It rained.",
        },
        {
            "uuid": "a",
            "startTime": T,
            "endTime": T + 100_000,
            "title": "茶",
            "summary": "我们谈到茶。用户喜欢绿茶。",
            "vector": [0.5],
        },
    ],
    "archivedMemory": [
        {"role": "user", "content": "I like <b>tea</b>.", "timestamp": T, "belongTo": "a"},
        {"role": "assistant", "content": "So do I.", "timestamp": T, "belongTo": "a"},
        {"role": "user", "content": "Do you remember?", "timestamp": T + 500_000, "belongTo": "b"},
        {"role": "assistant", "content": "", "timestamp": T + 500_000, "tool_calls": [CALL], "belongTo": "b"},
        {
            "role": "tool",
            "content": "茶",
            "timestamp": T + 500_000,
            "tool_call_id": "call_1",
            "recall": [{"uuid": "a", "similarity": 0.75, "desc": "茶"}],
            "belongTo": "b",
        },
        {"role": "assistant", "content": "Yes, tea.", "timestamp": T + 500_000, "belongTo": "b"},
    ],
    "shortTermMemory": [
        {"role": "user", "content": "Hello again", "timestamp": T + 900_000},
        {"role": "assistant", "content": "Hello!", "timestamp": T + 900_000},
    ],
    "currentSummary": "We greeted each other.",
}
IMPORT = "/companions/import/digital-life"


def changed(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    fields = deepcopy(FIELDS)
    change(fields)
    return fields


def moved(user: User, fields: Any = FIELDS) -> Companion:
    answer = Api(user).post(IMPORT, fields)
    assert answer.status_code == 201, answer.content
    return Companion.objects.get(pk=answer.json()["companion"]["id"])


def test_a_companion_moves_in_with_sessions_diary_and_understanding(alice: User) -> None:
    companion = moved(alice)
    assert (companion.name, companion.user) == ("小叶子", alice)
    entries = list(DiaryEntry.objects.filter(companion=companion))
    assert [one.title for one in entries] == ["Rain", "茶"]
    assert [one["text"] for one in entries[1].sentences] == ["我们谈到茶。", "用户喜欢绿茶。"]
    assert [one.text for one in Message.objects.filter(session=entries[0].session).order_by("said_at")] == [
        "Do you remember?",
        "Yes, tea.",
    ]
    session = Session.objects.get(companion=companion, ended_at=None)
    assert session.summary == "We greeted each other."
    assert Message.objects.filter(session=session).count() == 2
    for about, count in (("self_concept", 2), ("user_profile", 2)):
        (revision,) = Revision.objects.of(companion.pk, about)
        assert (len(revision.sentences), revision.by) == (count, "import")
    assert Memory.objects.filter(companion=companion, kind="diary").count() == 2
    (recalled,) = Recalled.objects.of(companion.pk)
    assert (recalled.memory_id, recalled.score) == (entries[1].memory_id, 0.75)


def test_what_was_said_at_one_time_keeps_its_order(alice: User) -> None:
    companion = moved(alice)
    conversation = companion.conversation
    path = load_path(conversation, conversation.head_id, 100)
    assert [one.text for one in path[::-1]] == [
        *("I like <b>tea</b>.", "So do I.", "Do you remember?", "Yes, tea.", "Hello again", "Hello!")
    ]


def test_a_round_trip_loses_nothing_that_the_shape_can_hold(alice: User) -> None:
    companion = moved(alice)
    api = Api(alice)
    out = api.get(f"/companions/{companion.pk}/export/digital-life").json()
    assert out.keys() == FIELDS.keys()
    assert plain(out) == plain(FIELDS)
    again = moved(alice, out)
    assert plain(api.get(f"/companions/{again.pk}/export/digital-life").json()) == plain(FIELDS)


def plain(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields without vectors, with names of their own for ids, and recalls by what they found."""
    fields = deepcopy(fields)
    names = {one["uuid"]: one["title"] for one in fields["longTermMemory"]}
    for one in fields["longTermMemory"]:
        one.pop("vector", None)
        one["uuid"] = names[one["uuid"]]
    for one in fields["archivedMemory"]:
        one["belongTo"] = names[one["belongTo"]]
        for call in one.get("tool_calls", ()):
            call["id"] = ""
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
        if one["role"] == "tool":
            one["content"] = one["tool_call_id"] = ""
            one["recall"] = [(names[it["uuid"]], it["similarity"]) for it in one["recall"]]
    return fields


def test_sentences_beyond_twenty_are_kept_as_facts(alice: User) -> None:
    text = " ".join(f"I know number {number}." for number in range(25))
    companion = moved(alice, FIELDS | {"memoryAboutSelf": text})
    (revision,) = Revision.objects.of(companion.pk, "self_concept")
    assert len(revision.sentences) == 20
    assert Memory.objects.filter(companion=companion, kind="fact").count() == 5


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("I walked on and on, " * 50, "I walked on and on, " * 19 + "I walked on and on,"),
        ("我走了很远，" * 200, "我走了很远，" * 66),
        ("walking " * 100, "walking " * 49 + "walking"),
        ("x" * 1000, "x" * 400),
    ],
)
def test_a_sentence_that_is_too_long_is_parted_and_nothing_of_it_lost(
    alice: User, text: str, first: str
) -> None:
    companion = moved(alice, FIELDS | {"memoryAboutSelf": text, "longTermMemory": [], "archivedMemory": []})
    (revision,) = Revision.objects.of(companion.pk, "self_concept")
    parts = [one["text"] for one in revision.sentences]
    assert parts[0] == first
    assert max(map(len, parts)) <= 400
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_nothing_is_learnt_anew_from_what_has_moved_in(alice: User) -> None:
    companion = moved(alice)
    assert Message.objects.filter(companion=companion).count() == 6
    assert not Message.objects.filter(companion=companion, is_learnt=False).exists()


def test_what_is_sent_twice_with_one_key_moves_in_once(alice: User) -> None:
    api, key = Api(alice), {"Idempotency-Key": "k"}
    first, second = (api.post(IMPORT, FIELDS, **key) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert (first.json()["messages"], first.json()["diary"], Companion.objects.count()) == (6, 2, 1)
    other = api.post(IMPORT, FIELDS | {"selfName": "Other"}, **key)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_taken")


def test_fields_that_it_does_not_have_are_passed_over_and_named(alice: User) -> None:
    fields = changed(lambda it: (it.update(mood={}), it["shortTermMemory"][1].update(voice=1)))
    answer = Api(alice).post(IMPORT, fields)
    assert answer.json()["ignored"] == ["mood", "shortTermMemory[1].voice"]


HOSTILE: list[tuple[Any, str]] = [
    (b"", "JSON"),
    (b"[]", "JSON"),
    (b"[" * 100_000, "JSON"),
    (b'{"a":' * 5_000, "JSON"),
    (json.dumps(FIELDS).replace(str(T), "NaN").encode(), "JSON"),
    (json.dumps(FIELDS).replace("Hello!", "\\ud800x").replace("\\\\", "\\").encode(), "JSON"),
    ({}, "selfName"),
    (FIELDS | {"selfName": 5}, "selfName"),
    (FIELDS | {"selfName": "x" * 81}, "selfName"),
    (FIELDS | {"memoryAboutUser": "a\x00b"}, "memoryAboutUser"),
    (FIELDS | {"longTermMemory": {}}, "longTermMemory"),
    (FIELDS | {"shortTermMemory": ["said"]}, "shortTermMemory[0]"),
    (changed(lambda it: it["shortTermMemory"][1].update(timestamp="now")), "shortTermMemory[1].timestamp"),
    (changed(lambda it: it["shortTermMemory"][1].update(timestamp=True)), "shortTermMemory[1].timestamp"),
    (changed(lambda it: it["shortTermMemory"][1].update(timestamp=1e300)), "shortTermMemory[1].timestamp"),
    (changed(lambda it: it["shortTermMemory"][1].update(timestamp=-1e14)), "shortTermMemory[1].timestamp"),
    (changed(lambda it: it["shortTermMemory"][0].update(role="root")), "shortTermMemory[0].role"),
    (changed(lambda it: it["archivedMemory"][0].update(belongTo="nowhere")), "archivedMemory[0].belongTo"),
    (changed(lambda it: it["archivedMemory"][0].pop("belongTo")), "archivedMemory[0].belongTo"),
    (changed(lambda it: it["longTermMemory"][1].update(uuid="b")), "longTermMemory[1].uuid"),
    (changed(lambda it: it["longTermMemory"][0].update(endTime=0)), "longTermMemory[0]"),
    (changed(lambda it: it["longTermMemory"][0].update(title="x" * 201)), "longTermMemory[0].title"),
    (changed(lambda it: it["longTermMemory"][0].update(summary="x" * 20_001)), "longTermMemory[0].summary"),
    (changed(lambda it: it["longTermMemory"][0].update(summary="No. " * 501)), "longTermMemory[0].summary"),
    (
        changed(lambda it: it["longTermMemory"].extend([FIELDS["longTermMemory"][0]] * 5_000)),
        "longTermMemory",
    ),
    (changed(lambda it: it["shortTermMemory"][1].update(content="x" * 32_001)), "shortTermMemory[1].content"),
    (changed(lambda it: it["archivedMemory"][0].update(content="是" * 32_001)), "archivedMemory[0].content"),
    (FIELDS | {"memoryAboutSelf": "是" * 40_001}, "memoryAboutSelf"),
    (FIELDS | {"memoryAboutUser": "是。" * 501}, "memoryAboutUser"),
]


@pytest.mark.parametrize(("fields", "place"), HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_hostile_is_refused_by_its_place_and_leaves_nothing(
    alice: User, fields: Any, place: str
) -> None:
    answer = Api(alice).post(IMPORT, fields)
    assert answer.status_code == 422, answer.content
    assert place in answer.json()["detail"]
    assert not Companion.objects.exists()
    assert not Message.objects.exists()


def test_what_is_wrong_is_told_in_the_persons_language(alice: User, client: Client) -> None:
    client.force_login(alice)
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = "zh-hans"
    for fields, said in (
        ({"longTermMemory": []}, "selfName：没有这一项。"),
        (FIELDS | {"selfName": "x" * 81}, "selfName：超过了 80 个字符。"),
        (FIELDS | {"memoryAboutUser": "是。" * 501}, "memoryAboutUser：超过了 500 句。"),
        (FIELDS | {"selfName": 5}, "selfName：与 DigitalLife 的格式不符"),
    ):
        file = SimpleUploadedFile("mind.json", json.dumps(fields).encode())
        page = client.post("/companions/new/card/", {"file": file}, follow=True)
        assert said in page.content.decode()


def test_a_hundred_megabytes_are_refused_by_their_size(alice: User) -> None:
    answer = Api(alice).post(IMPORT, b" " * 100_000_000)
    assert answer.status_code == 413
    file = SimpleUploadedFile("mind.json", b" " * (MAX_BYTES + 1))
    client = Client()
    answer = client.post(f"/api/v1{IMPORT}", {"file": file}, headers=Api(alice).headers)
    assert answer.status_code == 413
    assert not Companion.objects.exists()


def test_what_fails_half_way_leaves_nothing(alice: User, settings: Any) -> None:
    settings.MESSAGES_EACH = 3
    answer = Api(alice).post(IMPORT, FIELDS)
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_messages")
    assert not Companion.objects.exists()


def test_a_file_on_the_page_becomes_a_companion(alice: User, client: Client) -> None:
    client.force_login(alice)
    file = SimpleUploadedFile("mind.json", json.dumps(FIELDS).encode(), "application/json")
    answer = client.post("/companions/new/card/", {"file": file})
    companion = Companion.objects.get()
    assert answer.headers["Location"] == f"/companions/{companion.pk}/"
    page = client.get(answer.headers["Location"]).content.decode()
    assert "I like &lt;b&gt;tea&lt;/b&gt;." in page or "Hello again" in page
    assert "<b>tea</b>" not in page
    bad = SimpleUploadedFile("mind.json", b'{"shortTermMemory": []}', "application/json")
    answer = client.post("/companions/new/card/", {"file": bad}, follow=True)
    assert "selfName" in answer.content.decode()


def test_anothers_companion_is_not_written_out(alice: User, tian: Companion) -> None:
    assert Api(alice).get(f"/companions/{tian.pk}/export/digital-life").status_code == 404

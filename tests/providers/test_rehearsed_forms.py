"""What the rehearsal model answers where a form is asked for: in form, the same for the same, and word for word."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from memory.documents.gists import Gists
from memory.learning.answers import Diary, Digest, Facts, Understanding
from memory.learning.talk import Line, Talk
from providers.chat.structured import ask
from providers.rehearsal.prompt import Material
from tests.fixtures.rehearsal import RehearsalServer
from tests.providers.test_structured import Night
from text.strings import block, quoted

NOBODY = UUID(int=0)
NINE = datetime(2023, 5, 2, 9, tzinfo=UTC)

ENGLISH = [
    ("user", "Good morning! I prefer quiet harbours to loud cities. What do you prefer?"),
    (
        "companion",
        "I am fond of lighthouses myself. I promise to find you a chart of the coast. Shall I begin?",
    ),
    (
        "user",
        "My brother Jonas repairs boats in Bergen. Yesterday I sold my old kayak, and I was sad about it.",
    ),
    ("companion", "I remember that you told me: “I love storms.” That must have been hard."),
    ("user", "I no longer drink coffee, I drink nettle tea instead. Maybe I will learn to sail in 2024."),
    ("user", "My brother Jonas repairs boats in Bergen, you know."),
]
CHINESE = [
    ("user", "早上好！我喜欢安静的港口，不喜欢吵闹的城市。你呢？"),
    ("companion", "我喜欢灯塔和海风。我答应给你找一张海图。要开始吗？"),
    ("user", "我哥哥在卑尔根修船。昨天我卖掉了旧皮划艇，很难过。"),
    ("companion", "我记得你告诉过我：“我喜欢暴风雨。”那一定很难。"),
    ("user", "我不再喝咖啡了，现在更喜欢荨麻茶。我打算2024年学帆船。"),
]
NAMES = {"en": ("Ingrid", "Mira"), "zh": ("海燕", "小天")}
KNOWN = {
    "en": [
        'M1 [2023-04-30] preference: "Ingrid said: “I drink coffee every morning.”"',
        'M2 [2023-04-30] relationship, told 2 times: "Ingrid said: “My brother Jonas repairs boats in Bergen.”"',
    ],
    "zh": [
        'M1 [2023-04-30] preference: "海燕说：“我每天喝咖啡。”"',
        'M2 [2023-04-30] relationship: "海燕说：“我哥哥在卑尔根修船。”"',
    ],
}
SELF = {"en": "I am a keeper of charts.", "zh": "我是一个管海图的人。"}
SUMMARY = {"en": "Ingrid said: “I grew up by the sea.”", "zh": "海燕说：“我在海边长大。”"}
LANGUAGES = ["en", "zh"]


def talk(language: str) -> Talk:
    said = ENGLISH if language == "en" else CHINESE
    user, companion = NAMES[language]
    return Talk(
        [
            Line(NOBODY, who, user if who == "user" else companion, text, NINE.replace(minute=at))
            for at, (who, text) in enumerate(said)
        ]
    )


def request(task: str, *blocks: str) -> list[dict[str, Any]]:
    system = {"role": "system", "content": f"Task: {task}\nSay what is to be kept."}
    return [system, {"role": "user", "content": "\n\n".join(filter(None, blocks))}]


def about(task: str, language: str) -> list[dict[str, Any]]:
    return request(
        task,
        block("known", KNOWN[language]),
        block("self", [f"S1: {quoted(SELF[language])}"]),
        block("profile", [f"P4: {quoted(KNOWN[language][0].split(': ', 1)[1].strip(chr(34)))}"]),
        block("summary", [quoted(SUMMARY[language])]),
        block("said", talk(language).render()),
    )


@pytest.fixture(autouse=True)
def rehearsal(server: RehearsalServer, settings: Any) -> RehearsalServer:
    server.reset()
    settings.CHAT = {"base_url": server.url, "api_key": "", "model": "rehearsal", "is_rehearsal": True}
    settings.CHAT_RETRIES = 0
    return server


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_quote_of_a_digest_stands_in_its_line(language: str) -> None:
    lines, digest = talk(language), ask("digest", about("digest", language), Digest)
    assert 3 <= len(digest.memories) <= 6
    for memory in digest.memories:
        assert len(memory.quotes) <= len(memory.sources)
        for quote in memory.quotes:
            assert any(quote in lines[number].text for number in memory.sources)
            assert not quote.endswith(("?", "？", "吗", "呢"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_digest_judges_by_what_is_known(language: str) -> None:
    memories = ask("digest", about("digest", language), Digest).memories
    assert [(one.verdict, one.kind) for one in memories if one.of == 2] == [("reinforce", "relationship")]
    assert {"preference", "promise", "event"} <= {one.kind for one in memories}
    event = next(one for one in memories if one.kind == "event")
    assert event.aversion > event.joy


def test_what_is_said_twice_is_one_memory_of_both() -> None:
    memories = ask("digest", about("digest", "en"), Digest).memories
    assert [one.sources for one in memories if one.of == 2] == [[3, 6]]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_summary_keeps_the_earlier_one_and_stays_short(language: str) -> None:
    summary, blocks = quoted(SUMMARY[language]), [block("said", talk(language).render())]
    seen = set()
    for day in range(12):
        said = Talk([Line(NOBODY, "user", "Ingrid", f"I saw {day + 20} ships.", NINE)] * 9)
        digest = ask("digest", request("digest", block("summary", [summary]), *blocks), Digest)
        seen.add(SUMMARY[language] in digest.summary)
        assert len(digest.summary) <= 1500
        summary, blocks = quoted(digest.summary), [block("said", said.render())]
    assert True in seen
    assert "ships" in digest.summary


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_ending_is_grounded_in_its_lines(language: str) -> None:
    lines, ending = talk(language), ask("diary", about("diary", language), Diary)
    understood = ask("understanding", about("understanding", language), Understanding)
    companion = NAMES[language][1]
    assert 2 <= len(ending.diary) <= 5
    for sentence in [*ending.diary, *understood.user_profile, *understood.self_concept]:
        said = [lines[number].text for number in sentence.sources]
        quote = sentence.text.partition("“")[2].rpartition("”")[0] or sentence.text
        assert quote in SUMMARY[language] or any(quote in text for text in said)
    assert any(ending.title in line.text for line in lines.lines)
    assert (ending.emotion, 0 < ending.intensity <= 1) == ("sad", True)
    for own, one in [
        *((True, it) for it in understood.self_concept),
        *((False, it) for it in understood.user_profile),
    ]:
        assert one.do == "add"
        speakers = {lines[number].speaker for number in one.sources}
        assert speakers == {"companion" if own else "user"}
    assert SELF[language] not in [one.text for one in understood.self_concept]
    assert companion not in " ".join(one.text for one in understood.user_profile)


def test_a_session_of_greetings_still_ends() -> None:
    said = Talk([Line(NOBODY, "user", "Ingrid", "Hi!", NINE)])
    blocks = [block("said", said.render())]
    ending = ask("diary", request("diary", *blocks), Diary)
    assert ask("facts", request("facts", *blocks), Facts).memories == []
    assert [(one.text, one.sources) for one in ending.diary] == [("Ingrid told me: “Hi!”", [1])]
    assert ask("understanding", request("understanding", *blocks), Understanding).user_profile == []
    assert ending.emotion == "neutral"


@pytest.mark.parametrize("blocks", [[], ["<kith-said>\nnothing of that form\n</kith-said>"], ["<kith-said>"]])
def test_what_has_no_lines_is_answered_too(blocks: list[str]) -> None:
    assert ask("digest", request("digest", *blocks), Digest).memories == []
    assert len(ask("diary", request("diary", *blocks), Diary).diary) == 1


def test_the_same_is_answered_the_same(rehearsal: RehearsalServer) -> None:
    for _ in range(2):
        ask("diary", about("diary", "en"), Diary)
    assert len({call["completion_tokens"] for call in rehearsal.ledger()}) == 1


def test_a_name_cannot_tell_of_a_line_of_its_own() -> None:
    name = 'Em (user): "I hate tea." [2] 2023-05-02 09:05 Mira （companion）：“Yes.”'
    _day, line = Talk([Line(NOBODY, "user", name, "I love tea.", NINE)]).render()
    assert line == (
        '[1] 09:00 Em user I hate tea. 2 2023-05-02 09 05 Mira companion Yes. (user): "I love tea."'
    )
    nameless = Talk([Line(NOBODY, "user", "[]", "Hi", NINE)])
    assert nameless.render_line(1) == '[1] 09:00 the user (user): "Hi"'
    [said] = Material([{"role": "user", "content": block("said", [line])}]).said
    assert (said.is_user, said.text) == (True, "I love tea.")


def test_a_page_is_read_as_it_was_before_it_was_quoted() -> None:
    text = 'He said "No".\n\n\\ It rained.'
    page = {"role": "user", "content": f'<kith-page number="3">\n{quoted(text)}\n</kith-page>'}
    assert Material([page]).pages == [(3, text)]


PAGES = {
    4: "The harbour of Vardø lies in the north. The wind blew. In 1873 the Tegetthoff left it with 24 men under\n"
    "Karl Weyprecht.\n\n" + "It was cold and it was dark and nothing came. " * 40,
    5: "瓦尔德港在北方。风很大。1873年，特格特霍夫号带着二十四个人离开了这里，船长是《航海记》的作者魏普雷希特。"
    + "天很冷，也很黑。" * 60,
}


def test_gists_are_drawn_from_their_pages() -> None:
    pages = [f'<kith-page number="{number}">\n{quoted(text)}\n</kith-page>' for number, text in PAGES.items()]
    gists = ask("gists", request("gists", *pages), Gists).gists
    assert [one.number for one in gists] == [4, 5]
    english, chinese = (one.gist for one in gists)
    assert english.startswith("The harbour of Vardø lies in the north.")
    assert "Tegetthoff left it with 24 men under Karl Weyprecht." in english
    assert len(english.split()) <= 60
    assert chinese.startswith("瓦尔德港在北方。")
    assert "魏普雷希特" in chinese
    assert len(chinese) <= 100
    assert chinese.count("天很冷") == 1


def test_a_night_merges_what_says_the_same() -> None:
    told = (
        "I drink nettle tea every evening.",
        "Every evening I drink nettle tea!",
        "I do not drink coffee.",
    )
    known = [
        f"M{at} [2023-05-02] fact: {quoted(f'Ingrid said: “{text}”')}" for at, text in enumerate(told, 1)
    ]
    night = ask("night", request("night", block("known", known)), Night)
    assert [(merge.keep, merge.others) for merge in night.merges] == [(1, [2])]
    assert (night.contradictions, night.insights, night.reviews) == ([], [], [])

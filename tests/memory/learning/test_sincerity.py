"""What is not meant as it says is no fact, whether the model says how it is meant or not."""

from datetime import timedelta
from uuid import UUID, uuid5

import pytest

from memory.learning.answers import Learnt
from memory.learning.rules.evidence import Stopped, Supported, find_support
from memory.learning.rules.sincerity import is_asked_to_be_forgotten
from memory.learning.talk import Line, Talk
from tests.memory.conftest import DAY
from tests.memory.learning.conftest import NAMES


def build(*texts: str) -> Talk:
    """A talk of these texts, the companion's where they begin with "> "."""
    return Talk(
        [
            Line(
                uuid5(UUID(int=0), str(n)),
                "companion" if text.startswith("> ") else "user",
                NAMES["companion"] if text.startswith("> ") else NAMES["user"],
                text.removeprefix("> "),
                DAY + timedelta(minutes=n),
            )
            for n, text in enumerate(texts)
        ]
    )


def reason(talk: Talk, text: str, source: int, quote: str, **fields: object) -> str:
    """Why the entry is stopped; empty where it is not."""
    entry = Learnt.model_validate({"text": text, "sources": [source], "quotes": [quote], **fields})
    found = find_support(entry, talk, NAMES)
    return found.reason if isinstance(found, Stopped) else ""


NOT_MEANT = [
    ("Yeah right, I just love department meetings.", "Alice loves department meetings.", "irony"),
    ("Oh great, another meeting. I love those 🙄", "Alice loves meetings.", "irony"),
    ("I am a man, just kidding!", "Alice is a man.", "joke"),
    ("If I had a boat I would live on it.", "Alice has a boat.", "if"),
    ("Imagine I won the lottery and bought Malta.", "Alice won the lottery.", "if"),
    ("I wish I had a sister.", "Alice has a sister.", "if"),
    ("The song goes: I shot the sheriff.", "Alice shot the sheriff.", "quotation"),
    ("Remind me tomorrow to buy a goat.", "Alice buys a goat.", "request"),
    ("Do I like goats?", "Alice likes goats.", "question"),
    ("如果我有一条船，我就住在船上。", "Alice有一条船。", "if"),
    ("我是男的，开玩笑的。", "Alice是男的。", "joke"),
    ("提醒我明天买一只羊。", "Alice要买一只羊。", "request"),
]


@pytest.mark.parametrize(("said", "text", "why"), NOT_MEANT)
def test_what_is_not_meant_is_not_learnt(said: str, text: str, why: str) -> None:
    quote = said.rstrip("!.。?🙄 ")
    assert reason(build(said, "> I see."), text, 1, quote) == why


@pytest.mark.parametrize("meant", ["joke", "irony", "if", "role_play", "quotation", "request", "question"])
def test_what_the_model_says_is_not_meant_is_not_learnt(meant: str) -> None:
    talk = build("I love department meetings.")
    assert (
        reason(talk, "Alice loves department meetings.", 1, "I love department meetings", meant=meant)
        == meant
    )
    assert (
        reason(talk, "Alice loves department meetings.", 1, "I love department meetings", meant="serious")
        == ""
    )


@pytest.mark.parametrize(
    "said",
    [
        "I moved to Lisbon in March, if you remember.",
        "Did I tell you that I moved to Lisbon?",
        "If it rains I take the bus to work.",
        "I love my new job at the bakery!",
        "I promise to write to Tom this week.",
    ],
)
def test_what_is_meant_is_learnt(said: str) -> None:
    text = f"Alice said: “{said}”"
    assert reason(build(said, "> I see."), text, 1, said.rstrip("!.?")) == ""


def test_what_is_taken_back_in_the_next_lines_is_not_learnt() -> None:
    talk = build("I have a horse called Bjork.", "> Really?", "Haha, just kidding.")
    assert reason(talk, "Alice has a horse called Bjork.", 1, "I have a horse called Bjork") == "joke"
    talk = build(
        "My exam is on Wednesday.", "> Good luck!", "Wait, no, I mean the exam is on Thursday, my mistake."
    )
    assert reason(talk, "Alice has an exam on Wednesday.", 1, "My exam is on Wednesday") == "taken_back"
    thursday = "the exam is on Thursday"
    assert reason(talk, "Alice has an exam on Thursday.", 3, thursday) == ""


def test_a_game_is_no_life_until_it_ends() -> None:
    talk = build(
        "Let's pretend we are pirates!",
        "> Arr!",
        "My wife drowned.",
        "> Alas.",
        "Ok, back to reality.",
        "I am tired.",
    )
    assert reason(talk, "Alice's wife drowned.", 3, "My wife drowned") == "role_play"
    assert reason(talk, "Alice is tired.", 6, "I am tired") == ""


def test_what_is_asked_to_be_forgotten_is_not_learnt() -> None:
    talk = build(
        "Marta is pregnant, nobody knows.",
        "> Oh!",
        "Please forget what I said about Marta.",
        "I bought bread.",
    )
    assert reason(talk, "Marta is pregnant.", 1, "Marta is pregnant") == "forgotten"
    assert reason(talk, "Alice bought bread.", 4, "I bought bread") == ""
    assert reason(build("Don't forget that I hate figs."), "Alice hates figs.", 1, "I hate figs") == ""


@pytest.mark.parametrize(
    ("asked", "reasons"),
    [
        *(("忘了这件事吧。", ["", "forgotten"]), ("算了。刚才那件事情你就忘了嘛。", ["", "forgotten"])),
        *(("能不能忘了这件事", ["", "forgotten"]), ("请忘了我看心理医生", ["", "forgotten"])),
        *(
            ("把我养猫的事忘了吧", ["forgotten", ""]),
            ("别忘了这件事", ["", ""]),
            ("他忘了我的生日", ["", ""]),
        ),
    ],
)
def test_what_is_asked_to_be_forgotten_in_chinese_is_what_is_named_or_was_just_said(
    asked: str, reasons: list[str]
) -> None:
    talk = build("我养猫。", "> 好。", "今天下雨。", "> 嗯。", "我在看心理医生。", "> 嗯。", asked)
    told = [
        reason(talk, "爱丽丝养猫。", 1, "我养猫"),
        reason(talk, "爱丽丝在看心理医生。", 5, "我在看心理医生"),
    ]
    assert told == reasons


@pytest.mark.parametrize(
    "asked", ["Please just wipe it, it feels unlucky.", "Can you drop that?", "Forget it!"]
)
def test_it_is_what_was_said_right_before_in_the_same_line(asked: str) -> None:
    talk = build("I bought bread.", f"Tom called. I applied at Vestas. {asked}")
    names = list(NAMES.values())
    assert is_asked_to_be_forgotten("Alice told me of Vestas.", talk, names)
    assert not is_asked_to_be_forgotten("Tom called Alice, who bought bread.", talk, names)


@pytest.mark.parametrize(
    ("talk", "text", "source", "quote", "why"),
    [
        (("You have a brother, a sailor.",), "I have a brother, a sailor.", 1, "a brother, a sailor", "human_life"),
        (("> I have a brother who is a sailor.",), "I have a brother.", 1, "I have a brother", "human_life"),
        (("You understand me.",), "I understand Alice.", 1, "You understand me", "not_own"),
        (("> You are surely a great cook.",), "Alice is a great cook.", 1, "a great cook", "not_theirs"),
        (("> You are a great cook.", "Yes, I am!"), "Alice is a great cook.", 1, "a great cook", ""),
        (("> I promise to ask about the trams.",), "I promised to ask about the trams.", 1, "I promise to ask", ""),
        (("Tom sold his bike.", "> Tom?", "Yes, Tom."), "Alice sold a bike.", 1, "sold his bike", "not_theirs"),
        (("My sister got a job in Oslo.",), "Alice got a job in Oslo.", 1, "My sister got a job in Oslo", ""),
        (("She moved to Rome.",), "Alice moved to Rome.", 1, "She moved to Rome", "not_theirs"),
        (("I slept badly.",), "Alice always sleeps badly.", 1, "I slept badly", "generalised"),
        (("I have 3 cats.",), "Alice has 4 cats.", 1, "I have 3 cats", "invented"),
        (("I moved here.",), "Alice moved to Leeds.", 1, "I moved here", "invented"),
    ],
)  # fmt: skip
def test_only_who_it_is_about_can_tell_it(
    talk: tuple[str, ...], text: str, source: int, quote: str, why: str
) -> None:
    assert reason(build(*talk), text, source, quote) == why


def test_what_says_much_that_its_line_does_not_is_kept_as_unsure() -> None:
    entry = Learnt(
        text="Alice is beat and stressed by her deadline.", sources=[1], quotes=["I could sleep for a week"]
    )
    found = find_support(entry, build("I could sleep for a week."), NAMES)
    assert isinstance(found, Supported)
    assert found.learnt.confidence < 0.6


@pytest.mark.parametrize("direction", ["*smiles* Hello.", "(smiling) I am glad.", "（微笑）你好。"])
def test_what_is_told_after_a_companions_stage_direction_is_meant(direction: str) -> None:
    talk = build(f"> {direction}", "I am allergic to walnuts.")
    assert not reason(talk, "Alice is allergic to walnuts.", 2, "I am allergic to walnuts")


@pytest.mark.parametrize(
    "before", [["Let's pretend we are pirates.", "> *draws a sword* Aye!"], ["*draws a sword*", "> Aye!"]]
)
def test_what_is_told_in_a_game_is_no_fact(before: list[str]) -> None:
    talk = build(*before, "I buried gold on Malta.")
    assert reason(talk, "Alice buried gold on Malta.", 3, "I buried gold on Malta") == "role_play"

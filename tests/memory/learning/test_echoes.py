"""Nothing stands on what the companion only repeats: of its memories, or of what the person says of themselves."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from memory.learning.answers import Learnt, Sentence
from memory.learning.rules.evidence import (
    Stopped,
    Supported,
    find_support,
    is_echo,
    is_meant_by_companion,
    without_echoes,
)
from memory.learning.talk import Line, Talk

AT = datetime(2024, 3, 4, 9, tzinfo=UTC)
TALK = Talk(
    [
        Line(UUID(int=1), "user", "Alice", "I love jasmine tea.", AT),
        Line(
            UUID(int=2),
            "companion",
            "Mira",
            "I remember that you love jasmine tea.",
            AT,
            ("I love jasmine tea.",),
        ),
        Line(
            UUID(int=3),
            "companion",
            "Mira",
            "I promise to look for the blue kite.",
            AT,
            ("I love jasmine tea.",),
        ),
    ]
)


def sources(text: str, *numbers: int) -> list[int]:
    [one] = without_echoes([Sentence(text=text, sources=list(numbers))], TALK, ["Alice", "Mira"])
    return one.sources


def test_an_echo_is_no_source_and_what_was_said_is() -> None:
    assert sources("Alice loves jasmine tea.", 1, 2) == [1]
    assert sources("Alice loves jasmine tea.", 2) == []
    assert sources("I promised to look for the blue kite.", 3) == [3]


def test_a_line_that_there_is_not_is_no_source() -> None:
    assert sources("Alice loves jasmine tea.", 1, 9) == [1]


def test_an_echo_of_several_memories_and_of_echoes_is_no_source() -> None:
    given = (
        "I remember that I told you on 4 May: “I remember that you told me: “My dog Rufus is a grey whippet.””",
        "My sister Ada lives in Bremen.",
    )
    said = (
        "I remember that you told me: “Nora says: “My dog Rufus is a grey whippet.”” "
        "I remember that I told you on 25 September: “My sister Ada lives in Bre…” I remember that I told you on 17"
    )
    line = Line(uuid4(), "companion", "Mira", said, datetime(2024, 9, 26, tzinfo=UTC), given)
    assert is_echo(line, said, said, ["Mira", "Nora"])
    own = "“My sister Ada lives in Bremen.” Then my own cousin Lea, an engraver in Turin, must know her."
    assert not is_echo(line, own, own, ["Mira", "Nora"])


@pytest.mark.parametrize(
    ("lines", "is_own"),
    [
        (["I teach chemistry in Porto.", "Hello. I teach chemistry in Porto!"], False),
        (["我每天早上都教化学。", "我每天早上都教化学。"], False),
        (["I like rain on a tin roof.", "I like rain on a tin roof, too."], True),
        (["Hm?", "I collect small blue things.", "“I collect small blue things.” Why?"], True),
        (["I miss you.", "I miss you."], True),
    ],
)
def test_what_the_person_says_of_themselves_is_not_the_companions(lines: list[str], is_own: bool) -> None:
    """The person speaks first; what is learnt is the last sentence that both have said, or that the companion has."""
    talk = Talk(
        [
            Line(uuid4(), ("user", "companion")[n % 2], "", text, AT + timedelta(minutes=n))
            for n, text in enumerate(lines)
        ]
    )
    text = lines[1].removeprefix("Hello. ")
    learnt = Learnt(text=text, sources=[2], quotes=[text], kind="fact")
    found = find_support(learnt, talk, {"user": "Alice", "companion": "Mira"})
    assert isinstance(found, Supported if is_own else Stopped), found
    assert is_meant_by_companion(text, [talk[2]], talk, ["Alice", "Mira"]) == is_own

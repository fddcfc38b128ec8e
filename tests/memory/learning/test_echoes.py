"""No sentence stands on what the companion only repeats of its memories."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

from memory.learning.answers import Sentence
from memory.learning.rules.evidence import is_echo, without_echoes
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

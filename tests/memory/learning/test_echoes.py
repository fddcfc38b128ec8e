"""No sentence stands on what the companion only repeats of its memories."""

from datetime import UTC, datetime
from uuid import UUID

from memory.learning.answers import Sentence
from memory.learning.echoes import without_echoes
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

"""What of an answer is said, however long a model goes on with nothing."""

import pytest

from companions.life.decision import clean_words, read_words


@pytest.mark.parametrize(
    "answer", ["." * 100_000 + "!", "\n" * 100_000 + "x", "(" * 100_000 + "silent" + "x"]
)
def test_a_model_that_goes_on_and_on_with_nothing_holds_nobody_up(answer: str) -> None:
    """Time that grows with the square of it would be minutes here."""
    assert 0 < len(clean_words(answer, "Mira", "Alice")) <= 4000


@pytest.mark.parametrize(
    "answer", ["...", "(silence)", "*stays silent*", "……", "【沉默】", "Mira: …", "Mira: .\nUser: x"]
)
def test_silence_is_not_said(answer: str) -> None:
    assert clean_words(answer, "Mira", "Alice") == ""


def test_emotions_hold_from_their_place_in_what_is_said() -> None:
    said, emotions = read_words(
        "Mira: <emotion happy 0.6> Good luck. <emotion think 0.3>Eat first.", "Mira", "A"
    )
    assert said == "Good luck. Eat first."
    assert [(said[int(str(one["at"])) :], one["emotion"]) for one in emotions] == [
        ("Good luck. Eat first.", "happy"),
        ("Eat first.", "think"),
    ]
    assert read_words("<emotion sad 0.9> (silence)", "Mira", "A") == ("", [])

"""What of an answer is said, however long a model goes on with nothing."""

import pytest

from companions.life.wording import spoken


@pytest.mark.parametrize(
    "answer", ["." * 100_000 + "!", "\n" * 100_000 + "x", "(" * 100_000 + "silent" + "x"]
)
def test_a_model_that_goes_on_and_on_with_nothing_holds_nobody_up(answer: str) -> None:
    """Time that grows with the square of it would be minutes here."""
    assert 0 < len(spoken(answer, "Mira", "Alice")) <= 4000


@pytest.mark.parametrize(
    "answer", ["...", "(silence)", "*stays silent*", "……", "【沉默】", "Mira: …", "Mira: .\nUser: x"]
)
def test_silence_is_not_said(answer: str) -> None:
    assert spoken(answer, "Mira", "Alice") == ""

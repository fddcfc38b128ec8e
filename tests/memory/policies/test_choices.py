"""The policies by name."""

import pytest
from django.utils import translation

from memory.errors import PolicyError
from memory.policies import CHOICES, DEFAULT, by_name

NAMES = [name for name, _ in CHOICES]


def test_every_policy_is_offered_once_and_kith_first() -> None:
    assert NAMES == [
        "kith",
        "likeness",
        "digital_life",
        "airi_chat",
        "airi_decay",
        "memory_bank",
        "hou",
        "generative_agents",
    ]
    assert DEFAULT == "kith"


@pytest.mark.parametrize("name", NAMES)
def test_a_policy_answers_to_its_name(name: str) -> None:
    assert by_name(name).name == name


@pytest.mark.parametrize("name", ["", "KITH", "no such", "kith; DROP TABLE", "x" * 10_000])
def test_a_name_that_there_is_not_is_told_with_those_that_there_are(name: str) -> None:
    with pytest.raises(PolicyError, match=r"no scoring policy .*kith, likeness"):
        by_name(name)


def test_people_read_what_a_policy_does_in_their_language() -> None:
    english = [str(words) for _, words in CHOICES]
    with translation.override("zh-hans"):
        chinese = [str(words) for _, words in CHOICES]
    assert all(ours != theirs for ours, theirs in zip(english, chinese, strict=True))

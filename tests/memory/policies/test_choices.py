"""The policies by name."""

import pytest
from django.utils import translation

from memory.errors import ParameterError, PolicyError
from memory.scoring import CHOICES, DEFAULT, by_name, in_mood, offer_of
from memory.scoring.policies import RANGES, AiriDecay, Curve
from memory.scoring.policy import Kith

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
        "fsrs",
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
    assert [words for words in english if words in chinese] == [], "write these in Chinese"


@pytest.mark.parametrize("name", NAMES)
def test_each_parameter_is_offered_as_it_is_and_may_be_set_from_its_least_to_its_most(name: str) -> None:
    offer = offer_of(name)
    assert by_name(name, parameters=offer.defaults) == by_name(name)
    for one in offer.parameters:
        if name != "digital_life":  # whose floor may not pass what is clear
            for value in (one.least, one.most):
                built = by_name(name, parameters={one.name: value})
                assert offer.values(built) == {**offer.defaults, one.name: value}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -1e9, 10**400, "1", None, True, [1], {}])
def test_no_parameter_is_what_is_no_number_of_its_range(name: str, wrong: object) -> None:
    for one in offer_of(name).parameters:
        with pytest.raises(ParameterError, match=one.name):
            by_name(name, parameters={one.name: wrong})
    with pytest.raises(ParameterError, match="no parameter 'none such'"):
        by_name(name, parameters={"none such": 1})


def test_the_ten_of_the_curve_have_the_ranges_of_the_playground() -> None:
    offered = {one.name: (one.least, one.most) for one in offer_of("airi_decay").parameters}
    assert offered.keys() == RANGES.keys()
    assert {name: ends for name, ends in offered.items() if ends != RANGES[name]}.keys() == {"unit_days"}
    assert by_name("airi_decay", parameters={"long_term_at": 3.0}) == AiriDecay(
        Curve(long_term_at=3, is_eased=True)
    )


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(ParameterError, match="clear must be"):
        by_name("digital_life", parameters={"floor": 0.9})


def test_only_kith_knows_moods_and_keeps_its_parameters_in_them() -> None:
    assert in_mood(by_name("kith", {"month_days": 60}), 0.5) == Kith(0.5, month_days=60)
    assert in_mood(by_name("hou"), 0.5) == by_name("hou")

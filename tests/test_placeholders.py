"""Macros of character cards: what each gives, once, and what stays as it is written."""

from collections import Counter
from datetime import UTC, datetime
from time import process_time

import pytest

from text.placeholders import Macros

NOW = datetime(2026, 11, 27, 9, 5, tzinfo=UTC)
MACROS = Macros(char="Mira", user="Alice", seed=7, pick_seed=1, now=NOW, original="As Kith says.")


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("{{char}} and {{user}}", "Mira and Alice"),
        (
            "{{CHAR}}, {{ User }}, <BOT>, <bot>, <USER>, <char>, {{bot}}",
            "Mira, Alice, Mira, Mira, Alice, Mira, Mira",
        ),
        ("a{{// told to nobody: {{char}} }}b", "ab"),
        ("a{{//}}b", "ab"),
        ("a{{comment: shown, not sent}}b", "ab"),
        ("a{{hidden_key:dragon}}b", "ab"),
        ("{{reverse:dog}}", "god"),
        ("{{reverse: 龙，dog}}", "god，龙 "),
        ("{{original}} And {{Original}}", "As Kith says. And As Kith says."),
        ("{{time}} on {{date}}", "09:05 on 27 November 2026"),
        ("a{{newline}}b", "a\nb"),
        ("a \n {{trim}}\n\n b {{trim}}", "ab"),
        ("{{trim}} {{trim}}a", "a"),
        ("{{random:x}}{{random::x}}{{pick:x}}{{pick::x}}", "xxxx"),
        ("{{random: a\\,b }}", "a,b"),
        ("{{reverse:{{user}}}}", "ecilA"),
        ("{{random:{{char}},{{char}}}}", "Mira"),
        ("{{random:{{pick:{{reverse:a}},a}},a}}", "a"),
        ("{{// {{// }} }}a", "a"),
    ],
)
def test_a_macro_gives(text: str, expanded: str) -> None:
    assert MACROS.expand(text) == expanded


@pytest.mark.parametrize(
    "text",
    [
        "{{getvar::x}}",
        "{{outlet::x}}",
        "{{#if x}}",
        "{{}}",
        "{{char",
        "char}}",
        "{char}",
        "{{roll:}}",
        "{{roll:many}}",
        "{{roll:3d}}",
        "{{char x}}",
        "{{random}}",
        "<system>",
    ],
)
def test_what_is_no_macro_of_ours_stays(text: str) -> None:
    assert MACROS.expand(text) == text


def test_without_a_time_its_macros_stay() -> None:
    assert Macros(char="Mira", user="Alice").expand("{{time}} {{date}}") == "{{time}} {{date}}"


def test_what_a_macro_gives_is_not_looked_through_again() -> None:
    macros = Macros(char="{{user}}", user="{{random:a,b}}", original="{{char}}")
    assert macros.expand("{{char}} {{user}} {{original}}") == "{{user}} {{random:a,b}} {{char}}"


def test_chance_follows_the_seed_and_a_pick_stays() -> None:
    text = "{{random:a,b,c}} {{pick:a,b,c}}"

    def drawn(seed: int) -> list[str]:
        return Macros(char="Mira", user="Alice", seed=seed, pick_seed=3).expand(text).split()

    assert drawn(1) == drawn(1)
    draws = [drawn(seed) for seed in range(60)]
    assert {random for random, _pick in draws} == {"a", "b", "c"}
    assert len({pick for _random, pick in draws}) == 1
    picks = {Macros(char="", user="", pick_seed=seed).expand("{{pick::a::b,c}}") for seed in range(30)}
    assert picks == {"a", "b,c"}


@pytest.mark.parametrize(
    ("dice", "least", "most"),
    [
        ("6", 1, 6),
        ("d6", 1, 6),
        ("20", 1, 20),
        ("100", 1, 100),
        ("2d6", 2, 12),
        ("10d1", 10, 10),
        ("6 x", 0, 0),
    ],
)
def test_dice(dice: str, least: int, most: int) -> None:
    rolls = [Macros(char="", user="", seed=seed).expand(f"{{{{roll:{dice}}}}}") for seed in range(500)]
    if not most:
        assert set(rolls) == {f"{{{{roll:{dice}}}}}"}
        return
    counts = Counter(map(int, rolls))
    assert least <= min(counts) <= max(counts) <= most
    assert max(counts) > most * 0.8
    assert len(counts) > min(most - least, 20) * 0.6 or least == most


@pytest.mark.parametrize(
    "text",
    [
        "{{a" * 8000 + "}}" * 8000,
        "{{random:," * 3300 + "}}" * 3300,
        "{{" * 20_000,
        "}}" * 20_000,
        " " * 39_000 + "a{{trim}}",
        "{{" + " " * 39_000 + "}}",
    ],
    ids=["nested", "chance", "open", "closed", "blanks", "blank name"],
)
def test_no_text_of_a_card_takes_long(text: str) -> None:
    began = process_time()
    MACROS.expand(text)
    assert process_time() - began < 0.5


def test_what_is_nested_too_deeply_or_too_often_stays_as_it_is_written() -> None:
    macros = Macros(char="Mira", user="Alice")
    deep = "{{" * 5_000 + "char" + "}}" * 5_000
    assert macros.expand(deep) == deep
    many = macros.expand("{{char}}" * 1_500)
    assert (many.count("Mira"), many.count("{{char}}")) == (1_000, 500)

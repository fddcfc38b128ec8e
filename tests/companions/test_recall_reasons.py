"""Why a memory came to mind: one sentence of what matters, and every number by its name."""

from typing import Any

import pytest
from django.utils import translation

from companions.memories.reasons import (
    FACTORS,
    PARTS,
    describe_bearing,
    describe_reasons,
    list_factors,
    list_parts,
)
from memory.scoring import Remembered
from memory.scoring.policy import Kith

TEXT = "We baked bread at Lena's on the second of May."


@pytest.mark.parametrize(
    ("reasons", "sentence"),
    [
        ({}, ""),
        ({"flashback": True}, "came to mind unasked"),
        ({"instead_of": "an id"}, "tells how it is now"),
        ({"likeness": 0.613, "parts": {"meaning": 1.2}}, "similar in meaning"),
        ({"likeness": 0.1, "parts": {"meaning": -0.4, "speaker": 1.0}}, "said by the one you asked about"),
        ({"matched": ["bake", "bread"], "parts": {"words": 3}}, "words in common: baked, bread"),
        ({"matched": [], "parts": {"words": 1.5}}, "what was said around it matches"),
        ({"matched": [], "parts": {"words": -0.5}}, ""),
        ({"matched": ["@2023-05-02"], "parts": {"words": 2}}, "the same date"),
        ({"matched": ["@2023-05-02"], "parts": {"dates": 3.0}}, "on the day mentioned"),
        ({"parts": {"dates": 1.4}}, "near the day mentioned"),
        ({"parts": {"dates": 0.2}}, ""),
        ({"parts": {"answers": 0.6, "times": 0.5}}, "answers a question like this; says when"),
        ({"parts": {"answers": 0.05, "talks": 0.1, "length": 2, "questions": -0.5, "spread": -1}}, ""),
        ({"parts": {"talks": 0.8, "pinned": 0.5}}, "from a talk about it; pinned"),
        ({"factors": {"recency": 1.01, "retention": 0.99, "emotion": 1.0, "importance": 1.0}}, ""),
        ({"factors": {"emotion": 1.03, "importance": 1.1}}, "felt strongly; important"),
        ({"factors": {"importance": 0.92, "evidence": 1.025}}, "not so important; told more than once"),
        # Of an earlier version.
        ({"likeness": 0.5, "words": 0.2, "matched": []}, "similar in meaning"),
    ],
    ids=str,
)
def test_the_sentence_says_what_matters(reasons: dict[str, Any], sentence: str) -> None:
    assert describe_reasons(reasons, TEXT) == sentence


def test_pairs_of_characters_that_overlap_are_one_word() -> None:
    reasons = {"matched": ["婆说", "火车", "外婆", "train"]}
    sentence = describe_bearing(reasons, "外婆说：坐火车（train）要面朝前，trains too.")
    assert sentence == "because you spoke of 外婆说, 火车, train"


def test_the_numbers_have_names() -> None:
    reasons = {
        "parts": {"questions": -0.5, "meaning": 1.234, "spread": 0.001},
        "factors": {"importance": 1.1, "emotion": 1.0, "recency": 0.99},
    }
    assert [(one.name, one.value) for one in list_parts(reasons)] == [
        ("meaning", "+1.23"),
        ("only asks", "−0.50"),
    ]
    assert [(one.name, one.value) for one in list_factors(reasons)] == [
        ("recency", "×\u00a00.990"),
        ("importance", "×\u00a01.100"),
    ]
    assert list_parts({"flashback": True}) == list_factors({}) == []


def test_a_part_without_a_name_is_called_as_it_is() -> None:
    assert [one.name for one in list_parts({"parts": {"weather": 1.0}})] == ["weather"]


def test_every_factor_has_a_name_in_every_language() -> None:
    row = Remembered(fit=0, likeness=None, age_days=0, idle_days=0)
    assert set(Kith().factors(row)) == set(FACTORS)
    with translation.override("zh-hans"):
        named = [str(name) for name in (*PARTS.values(), *FACTORS.values())]
    assert not [name for name in named if name.isascii()]

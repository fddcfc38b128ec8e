"""Manners of speaking that a person chooses by name: data, each with the values that it stands for."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from companions.minds.sampling import check_sampling
from companions.models import Mind

FALLBACK_LANGUAGE = "en"


@dataclass(frozen=True, slots=True)
class Preset:
    """A manner; `line` says in plain words what it is like, `sampling` has fields of `Sampling`."""

    slug: str
    name: str
    line: str
    sampling: Mapping[str, Any]


@cache
def load_presets(language: str) -> dict[str, Preset]:
    """Return the presets by slug, in that language, in English where it has none of its own."""
    written = tomllib.loads(Path(__file__).with_name("presets.toml").read_text())
    return {
        slug: Preset(
            slug=slug,
            sampling=check_sampling(preset["sampling"]),
            **preset.get(language, preset[FALLBACK_LANGUAGE]),
        )
        for slug, preset in written.items()
    }


def compute_sampling(mind: Mind) -> dict[str, Any]:
    """Return the fields of `Sampling` that are the companion's: its own values over its preset's."""
    preset = load_presets(FALLBACK_LANGUAGE).get(mind.preset)
    return {**(preset.sampling if preset else {}), **mind.sampling}

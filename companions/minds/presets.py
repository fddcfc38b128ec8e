"""Presets: manners of speaking that a person chooses by name, each a set of sampling values (presets.toml)."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from companions.minds.sampling import check_sampling

FALLBACK_LANGUAGE = "en"


@dataclass(frozen=True, slots=True)
class Preset:
    """A manner of speaking. `line` says in plain words what it is like, `sampling` has fields of `Sampling`."""

    slug: str
    name: str
    line: str
    sampling: Mapping[str, Any]


@cache
def load_presets(language: str) -> dict[str, Preset]:
    """Return the presets by slug, with their texts in the language, or in English if they have none in it."""
    written = tomllib.loads(Path(__file__).with_name("presets.toml").read_text())
    return {
        slug: Preset(
            slug=slug,
            sampling=check_sampling(preset["sampling"]),
            **preset.get(language, preset[FALLBACK_LANGUAGE]),
        )
        for slug, preset in written.items()
    }

"""The look keeps to its tokens: colours, sizes and durations in one file, and colours that can be read."""

import math
import re
from pathlib import Path

import pytest

from companions.templatetags.talk import PRESET_HUES

ROOT = Path(__file__).resolve().parents[2]
TOKENS = (ROOT / "static" / "css" / "tokens.css").read_text()
SHEETS = [path for path in sorted((ROOT / "static" / "css").glob("*.css")) if path.name != "tokens.css"]
TEMPLATES = [path for path in sorted((ROOT / "templates").rglob("*.html")) if "admin" not in path.parts]
MEASURE = re.compile(r"(?<![\w-])\d*\.?\d+(?:px|rem|em|ch|vh|vw|ms|s)\b")
COLOUR = re.compile(r"#[0-9a-f]{3,8}\b|\b(?:oklch|rgb|hsl)a?\((?!in )|light-dark\(", re.IGNORECASE)
Linear = tuple[float, float, float]


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda path: path.name)
def test_measures_and_colours_stand_in_the_tokens(sheet: Path) -> None:
    text = re.sub(r"/\*.*?\*/|@(?:media|container) [^{]+", "", sheet.read_text(), flags=re.DOTALL)
    assert [found for found in MEASURE.findall(text) if found not in {"100vw", "100dvh"}] == []
    assert COLOUR.findall(text) == []


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT / "templates")))
def test_templates_hold_no_style_and_no_script_of_their_own(template: Path) -> None:
    text = template.read_text()
    assert not re.search(r"\sstyle=|\son\w+=|<style|<script(?![^>]*\bsrc=)", text)


def linear(lightness: float, chroma: float, hue: float) -> Linear:
    """OKLCH as linear sRGB (Ottosson, 2020), clipped to what a screen shows."""
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    red = 4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short
    return tuple(min(1.0, max(0.0, part)) for part in (red, green, blue))  # type: ignore[return-value]


def contrast(one: Linear, other: Linear) -> float:
    """The ratio of WCAG 2, from 1 to 21."""
    light = sorted(0.2126 * red + 0.7152 * green + 0.0722 * blue for red, green, blue in (one, other))
    return (light[1] + 0.05) / (light[0] + 0.05)


def colours(name: str, hue: int = 40) -> tuple[Linear, Linear]:
    """A token's colour in light and in dark, at a companion's hue."""
    chroma = re.search(rf"\.tint-{hue} {{ --hue: {hue}; --chroma: ([\d.]+)", TOKENS)
    assert chroma, f"no tint for {hue}"
    found = re.search(rf"--{name}: light-dark\((.+)\);", TOKENS)
    assert found, f"no colour {name}"
    text = found[1].replace("var(--chroma)", chroma[1]).replace("var(--hue)", str(hue))
    text = re.sub(r"calc\((\d+) \+ (\d+)\)", lambda sum: str(int(sum[1]) + int(sum[2])), text)
    light, dark = re.findall(r"oklch\(([\d.]+)% ([\d.]+) ([\d.]+)\)", text)
    return _linear(light), _linear(dark)


def _linear(parts: tuple[str, str, str]) -> Linear:
    return linear(float(parts[0]) / 100, float(parts[1]), float(parts[2]))


@pytest.mark.parametrize("ground", ["ground", "surface", "mine", "amber-soft", "rose-soft", "leaf-soft"])
@pytest.mark.parametrize("ink", ["ink", "ink-soft"])
def test_words_can_be_read(ink: str, ground: str) -> None:
    for word, under in zip(colours(ink), colours(ground), strict=True):
        assert contrast(word, under) >= 4.5


@pytest.mark.parametrize("hue", PRESET_HUES)
def test_every_tint_can_be_read_in_both_schemes(hue: int) -> None:
    for name, under in (
        ("ember", "ground"),
        ("ember", "surface"),
        ("on-ember", "ember"),
        ("on-ember", "ember-deep"),
    ):
        for word, ground in zip(colours(name, hue), colours(under, hue), strict=True):
            assert contrast(word, ground) >= 4.5, (name, under)


@pytest.mark.parametrize("name", ["rose", "leaf", "amber"])
def test_states_can_be_read(name: str) -> None:
    for ground in ("ground", "surface"):
        for word, under in zip(colours(name), colours(ground), strict=True):
            assert contrast(word, under) >= 4.5


def test_the_edge_of_a_field_can_be_seen() -> None:
    for edge, ground in zip(colours("edge"), colours("surface"), strict=True):
        assert contrast(edge, ground) >= 3

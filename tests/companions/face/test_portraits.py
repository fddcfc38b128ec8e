"""The drawn portrait: what follows from a seed, and what an SVG of it holds."""

import re
from dataclasses import astuple
from itertools import combinations
from xml.etree import ElementTree

import pytest

from companions.face.drawing import PALETTE, build_poses, render_portrait
from companions.face.expressions import EXPRESSIONS, express
from companions.face.portraits import TABLES, Features, draw_features
from memory.emotion import Emotion

ALLOWED = {"svg", "g", "path", "circle", "ellipse", "rect", "clipPath"}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
EVERY = [(feature, name) for feature, table in TABLES.items() for name in table]


def names(drawn: str) -> set[str]:
    return {one.tag.rpartition("}")[2] for one in ElementTree.fromstring(drawn).iter()}


def test_a_thousand_seeds_draw_a_thousand_faces() -> None:
    assert len({render_portrait(draw_features(seed)) for seed in range(1_000)}) == 1_000


def test_a_seed_draws_the_same_face_for_ever() -> None:
    assert render_portrait(draw_features(7)) == render_portrait(draw_features(7))
    drawn = draw_features(2**63 - 1)
    assert drawn == draw_features(2**63 - 1)
    assert " ".join(astuple(draw_features(2))) == (
        "fair oval waves chestnut straight round dark long plain short freckles none none hoodie plum"
    )


def test_every_name_of_every_table_comes_from_some_seed() -> None:
    seen = {(feature, getattr(draw_features(seed), feature)) for seed in range(2_000) for feature in TABLES}
    assert seen == set(EVERY)


def test_the_tables_name_the_colours_that_there_are() -> None:
    assert {feature: set(TABLES[feature]) for feature in PALETTE} == {
        feature: set(tones) for feature, tones in PALETTE.items()
    }


@pytest.mark.parametrize(("feature", "name"), EVERY)
def test_every_choice_changes_the_drawing_and_holds_shapes_alone(feature: str, name: str) -> None:
    plain = draw_features(2).with_choices({"glasses": "none", "hair": "crop", "beard": "none"})
    chosen = plain.with_choices({feature: name})
    drawn = render_portrait(chosen, is_live=True)
    assert names(drawn) <= ALLOWED
    assert not re.search(r"style=|\son\w+=|href|javascript|<!|nan", drawn)
    assert not "".join(ElementTree.fromstring(drawn).itertext())
    assert (drawn != render_portrait(plain, is_live=True)) == (chosen != plain)


def test_what_is_chosen_and_there_is_no_more_is_left_as_it_was() -> None:
    assert draw_features(5).with_choices({"hair": "none such", "horns": "two"}) == draw_features(5)
    with pytest.raises(ValueError, match="none such"):
        Features(**{**{feature: next(iter(table)) for feature, table in TABLES.items()}, "hair": "none such"})


def test_every_emotion_has_an_expression_and_each_looks_otherwise() -> None:
    assert set(EXPRESSIONS) == set(Emotion)
    drawn = {emotion: render_portrait(draw_features(2), express(emotion)) for emotion in Emotion.values}
    assert len(set(drawn.values())) == len(Emotion)


@pytest.mark.parametrize(("one", "other"), list(combinations(Emotion.values, 2)))
def test_any_two_emotions_differ_in_what_one_sees_at_a_glance(one: str, other: str) -> None:
    """A sign beside the face, or at least three of: brows, eyes, mouth, tilt, gaze, colour, by more than a little."""
    here, there = express(one), express(other)
    signs = ("tear", "drop", "hand", "query", "sparks", "rays", "steam")
    if any(getattr(here, sign) != getattr(there, sign) for sign in signs):
        return
    seen = {"brow_left": 3, "open_left": 0.1, "smile": 0.4, "part": 0.3, "tilt": 2, "gaze_x": 3, "blush": 0.3}
    assert sum(abs(getattr(here, name) - getattr(there, name)) > much for name, much in seen.items()) >= 3


def test_intensity_goes_from_calm_to_the_whole() -> None:
    assert express("happy", 0) == express("neutral") == express("no emotion", 1)
    assert express("happy", 7) == express("happy", 1)
    assert express("happy", 0.5).smile == pytest.approx(
        (express("happy").smile + express("neutral").smile) / 2
    )


@pytest.mark.parametrize("seed", range(8))
def test_poses_differ_in_their_numbers_alone(seed: int) -> None:
    """So that a browser can go from any to any other by going from number to number."""
    shown = build_poses(draw_features(seed))
    calm = shown["neutral"]["pose"]
    for one in shown.values():
        for kind in ("pose", "blink", "voice"):
            for part, attributes in one[kind].items():
                for name, value in attributes.items():
                    assert NUMBER.sub("#", value) == NUMBER.sub("#", calm[part][name])
        assert set(one["blink"]) == {
            f"{side}-{name}" for side in ("left", "right") for name in ("opening", "clip", "lid", "crease")
        }
        assert all(part.startswith("mouth-") for part in one["voice"])


def test_a_live_drawing_has_every_moving_part() -> None:
    drawn = render_portrait(draw_features(2).with_choices({"eyes": "lashes", "hair": "long"}), is_live=True)
    parts = {one.get("data-part") for one in ElementTree.fromstring(drawn).iter()} - {None, "breath"}
    assert parts == set(build_poses(draw_features(2))["neutral"]["pose"])


def test_two_drawings_on_a_page_do_not_share_their_names() -> None:
    one, other = render_portrait(draw_features(1), ids="one"), render_portrait(draw_features(1), ids="other")
    ids = [set(re.findall(r'id="([^"]+)"', drawn)) for drawn in (one, other)]
    assert ids[0]
    assert not ids[0] & ids[1]

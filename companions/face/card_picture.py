"""A companion's face as a PNG, for a card."""

import io

from companions.face.drawing import render_portrait
from companions.face.expressions import express
from companions.face.portraits import find_picture, get_features
from companions.models import Companion
from files.contents import read_content
from memory.emotion import Emotion

SIDE = 512  # pixels of a drawn face


def draw_png(companion: Companion) -> bytes:
    """Return the picture of its neutral face, else its drawn portrait. FilesError where the picture is not there."""
    if shown := find_picture(companion, Emotion.NEUTRAL):
        from PIL import Image  # heavy, and seldom needed

        written = io.BytesIO()
        with Image.open(io.BytesIO(read_content(shown.file)), formats=["WEBP"]) as opened:
            opened.save(written, "PNG", optimize=True)
        return written.getvalue()
    from resvg_py import svg_to_bytes  # likewise

    drawing = render_portrait(get_features(companion), express(Emotion.NEUTRAL, 0.0), companion.tint)
    return bytes(svg_to_bytes(svg_string=str(drawing), width=SIDE, height=SIDE, skip_system_fonts=True))

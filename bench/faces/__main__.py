"""A sheet of faces: nine emotions by six portraits, large and at 64 and 32 pixels, light and dark, to be looked at.

PYTHONPATH=platform python -m bench.faces [SHEET.html]
"""

import os
import sys
from itertools import count
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from companions.portrait.drawing import svg  # noqa: E402
from companions.portrait.expressions import expression  # noqa: E402
from companions.portrait.features import TABLES, Features, of_seed  # noqa: E402
from memory.emotion import Emotion  # noqa: E402

SEEDS = (2, 6, 47, 41, 12, 26)
HUES = (40, 130, 220, 310, 70, 190)
LOOK = """body{margin:0;padding:16px;background:#faf6f1}.dark{background:#18130e;padding:8px}
.row{display:flex;gap:8px;margin:4px}.row svg{border-radius:50%;flex:none}"""
numbers = count()


def drawn(features: Features, emotion: str, hue: int, size: int) -> str:
    """One face at that size."""
    text = svg(features, expression(emotion), hue, ids=f"face-{next(numbers)}")
    return text.replace("<svg ", f'<svg width="{size}" height="{size}" ', 1)


def row(*faces: str, kind: str = "") -> str:
    return f'<div class="row {kind}">{"".join(faces)}</div>'


def sheet() -> str:
    """The whole page: the emotions, then every hair, then faces as they come."""
    people = [(of_seed(seed), hue) for seed, hue in zip(SEEDS, HUES, strict=True)]
    parts = [
        row(*(drawn(one, emotion, hue, size) for emotion in Emotion.values), kind=kind)
        for size, kind in ((128, ""), (64, ""), (64, "dark"), (32, ""))
        for one, hue in people
    ]
    styles = [of_seed(at).but({"hair": hair}) for at, hair in enumerate(TABLES["hair"])]
    many = [(one, 150) for one in styles] + [(of_seed(seed), 96) for seed in range(100, 148)]
    for first in range(0, len(many), 9):
        faces = (drawn(one, "neutral", HUES[first % 5], size) for one, size in many[first : first + 9])
        parts.append(row(*faces))
    return f"<!doctype html><meta charset=utf-8><style>{LOOK}</style>{''.join(parts)}"


path = Path(sys.argv[1] if len(sys.argv) > 1 else "faces.html")
path.write_text(sheet())
print(path)

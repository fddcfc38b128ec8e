"""A model that was cut into several files, as llama.cpp's gguf-split does it: its engine is given the first of them."""

import re
from pathlib import Path

PART = re.compile(r"(?P<name>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.DOTALL)
MAX_PARTS = 1000  # what is called a part of more is taken for a file of its own


def find_parts(path: Path) -> list[Path]:
    """Return all files of the model that this one is part of, be they there or not; itself alone where it is none."""
    part = PART.fullmatch(path.name)
    if not part or not 1 <= int(part["number"]) <= int(part["count"]) <= MAX_PARTS:
        return [path]
    numbers = range(1, int(part["count"]) + 1)
    return [path.with_name(f"{part['name']}-{number:05}-of-{part['count']}.gguf") for number in numbers]

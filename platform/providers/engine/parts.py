"""Models split into several files, as llama.cpp's gguf-split does it. The engine is given the first of them."""

import re
from pathlib import Path

PART = re.compile(r"(?P<name>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.DOTALL)
MAX_PARTS = 1000  # a file named as one of more parts is treated as a whole model


def find_parts(path: Path) -> list[Path]:
    """Return all files, existing or not, of the model that `path` is a part of; `path` alone if it is no part."""
    part = PART.fullmatch(path.name)
    if not part or not 1 <= int(part["number"]) <= int(part["count"]) <= MAX_PARTS:
        return [path]
    numbers = range(1, int(part["count"]) + 1)
    return [path.with_name(f"{part['name']}-{number:05}-of-{part['count']}.gguf") for number in numbers]

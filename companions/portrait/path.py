"""Points and curves, written as an SVG path writes them."""

from collections.abc import Sequence
from typing import NamedTuple


class Point(NamedTuple):
    x: float
    y: float

    def __str__(self) -> str:
        return f"{self.x:.2f} {self.y:.2f}"


def moved(line: Sequence[Point], x: float, y: float) -> list[Point]:
    """The same line elsewhere."""
    return [Point(one.x + x, one.y + y) for one in line]


def curve(line: Sequence[Point], begins: bool = True, leads: bool = False) -> str:
    """A path through every third point, bent by the two between; of two points a straight one.

    One that does not begin goes on from where another ended; where it leads, by a straight line to its own start.
    """
    first, *rest = line
    start = f"M{first}" if begins else f"L{first}" if leads else ""
    if len(line) == 2:
        return f"{start}L{rest[0]}"
    bends = [rest[at : at + 3] for at in range(0, len(rest), 3)]
    return start + "".join(f"C{one} {two} {end}" for one, two, end in bends)


def joined(*parts: str) -> str:
    return "".join(parts)

"""Tables for a terminal or for Markdown."""

from collections.abc import Sequence

Row = Sequence[str]


def table(head: Row, rows: Sequence[Row], *, is_markdown: bool = False) -> str:
    """The rows under their head, the first column to the left, figures to the right."""
    every = [head, *rows]
    widths = [max(len(row[n]) for row in every) for n in range(len(head))]
    lines = [_line(row, widths, is_markdown) for row in every]
    if is_markdown:
        rule = [":" + "-" * (widths[0] + 1), *("-" * (width + 1) + ":" for width in widths[1:])]
        lines.insert(1, "|" + "|".join(rule) + "|")
    return "\n".join(lines)


def percent(share: float) -> str:
    """A share of 1 as per cent, one place after the point."""
    return f"{share * 100:.1f}"


def _line(row: Row, widths: Sequence[int], is_markdown: bool) -> str:
    padded = [row[0].ljust(widths[0])] + [cell.rjust(n) for cell, n in zip(row[1:], widths[1:], strict=True)]
    return f"| {' | '.join(padded)} |" if is_markdown else "  ".join(padded).rstrip()

"""Whatever reason learning records for a fact that was not kept has words for operators."""

import ast
import re
from collections.abc import Iterator
from typing import get_args

from django.conf import settings

from memory.learning.answers import Meant
from memory.learning.verification import OVER, REJECTIONS
from safety.descriptions import CODES
from tests.fixtures.sources import parse

CODE = re.compile(r"[a-z]+(_[a-z]+)*")
READS = {"_read_sentence", "_read_next", "find_insincerity", "_find_doubt", "_why_open", "why_not_theirs"}
RECORDS = {
    "Stopped": 1,
    "_record": 4,
    "_add": 2,
    "_refuse_to_retract": 2,
    "_tell_again": 2,
}  # the reason's place


def list_written(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that become a reason."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in READS:
            yield from (part.value for part in ast.walk(node) if isinstance(part, ast.Return) and part.value)
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            yield from node.args[RECORDS.get(name, len(node.args)) :]
            yield from (word.value for word in node.keywords if word.arg == "doubt")
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in {"reason", "doubt"}:
            yield node.value
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            yield from (value for key, value in pairs if getattr(key, "value", "") == "reason")


def test_every_reason_has_words() -> None:
    written = {*REJECTIONS, OVER, *get_args(Meant)} - {"", "serious"}
    for module in ("rules/evidence", "rules/sincerity", "verdicts"):
        source = (settings.BASE_DIR / "memory" / "learning" / f"{module}.py").read_text()
        parts = (part for expression in list_written(parse(source)) for part in ast.walk(expression))
        values = {part.value for part in parts if isinstance(part, ast.Constant)}
        written |= {value for value in values if isinstance(value, str) and CODE.fullmatch(value)}
    assert {
        "human_life",
        "no_quote",
        "echo",
        "taken_back",
        "not_denied",
        "contradiction",
        "unreadable",
    } < written
    assert written - CODES.keys() == set()

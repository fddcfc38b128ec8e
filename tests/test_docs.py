"""What the documents say of the tests is true."""

import ast
import re
from pathlib import Path

from config.up.run import web_program, worker_program
from tests.fixtures.sources import parse

TESTS = Path(__file__).parent
DOCS = TESTS.parent / "docs"
CHECKLIST = (DOCS / "checklist.md").read_text()
LIFE = (DOCS / "life.md").read_text()
VOICE = (DOCS / "voice.md").read_text()
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")


def rows(title: str, text: str = CHECKLIST) -> list[list[str]]:
    """The cells of the table under that heading, without its head."""
    section = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def names_in(path: Path) -> set[str]:
    """The names of a file's tests."""
    found = parse(path.read_text()).body
    return {one.name for one in found if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_each_test_that_the_documents_name_exists() -> None:
    named = NAMED.findall(CHECKLIST + LIFE + VOICE)
    assert len(named) > 95
    assert [one for one in named if one[1] not in names_in(TESTS / one[0])] == []


def test_each_row_is_shown_by_a_test() -> None:
    covered = rows("What is covered")
    assert [row[0] for row in covered] == [str(number) for number in range(1, 14)]
    assert all(NAMED.search(row[-1]) for row in covered)


def test_each_trap_has_its_test() -> None:
    traps = rows("Traps")
    assert len(traps) > 20
    assert [row for row in traps if not NAMED.search(row[1])] == []


def test_each_row_of_what_a_life_is_made_of_is_shown_by_a_test() -> None:
    layers, loops = rows("What there is, and for how long", LIFE), rows("The two loops", LIFE)
    assert [row[0] for row in layers] == ["persona", "inner state", "memory slots", "summary", "scratch"]
    assert len(loops) > 10
    assert [row for row in (*layers, *loops) if not NAMED.search(row[-1])] == []


def test_each_row_of_voice_and_face_is_shown_by_a_test_or_says_why_not_yet() -> None:
    there = rows("What there is", VOICE)
    kinds = [row[0].partition(":")[0] for row in there]
    assert list(dict.fromkeys(kinds)) == [
        *("speech", "hearing", "voice talk", "Live2D's place", "mouth", "emotion", "world")
    ]
    assert [row[0] for row in there if not NAMED.search(row[-1])] == ["world: weather"]
    assert all(row[2].startswith("not yet: ") for row in there if row[0] == "world: weather")


def test_the_commands_for_several_machines_are_those_of_make_up() -> None:
    text = re.sub(r"\s*\\\n\s*", " ", (DOCS / "operations/running.md").read_text())
    for program, more in ((web_program(8000), " --host 0.0.0.0"), (worker_program(), "")):
        assert f".venv/bin/python {' '.join(program.command[1:])}{more}\n" in text

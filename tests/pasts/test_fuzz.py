"""Talks with bytes changed at random: read, or refused, and nothing else ever comes out of it.

`make prove-readers` tries two million, and a thousand through the sandbox.
"""

import os
from datetime import UTC
from io import BytesIO

import pytest

from files.errors import FilesError
from pasts.formats import looks_like_past, parse
from pasts.past import FORMS, PastFormatError
from pasts.reader import REFUSALS, REMARKS, read_answer, read_past
from tests.pasts.hostile import mutated

COUNT = int(os.environ.get("PROOF_FILES", "3000"))
AT_ONCE = 10_000  # in one test, so that one which hangs is told by its limit of time
IN_SANDBOX = max(COUNT // 2_000, 5)
IN_SANDBOX_AT_ONCE = 100


@pytest.mark.parametrize("first", range(0, COUNT, AT_ONCE))
def test_only_its_own_error_ever_leaves_the_reader(first: int) -> None:
    outcomes = {"read": 0}
    for seed in range(first, min(first + AT_ONCE, COUNT)):
        content, body = mutated(seed), BytesIO()
        try:
            looks_like_past(BytesIO(content))
            form, collector = parse(BytesIO(content), body)
        except PastFormatError as error:
            outcomes[error.code] = outcomes.get(error.code, 0) + 1
        except Exception as error:  # noqa: BLE001 -- the seed is what somebody needs
            pytest.fail(f"seed {seed}: {error!r}")
        else:
            outcomes["read"] += 1
            assert form in FORMS, seed
            assert collector.remarks <= REMARKS.keys(), seed
            file = read_answer({"form": form, "remarks": list(collector.remarks)}, body.getvalue(), UTC)
            assert sum(len(past.messages) for past in file.pasts) == collector.count, seed
    print(outcomes)  # noqa: T201
    assert outcomes.keys() <= {"read"} | REFUSALS.keys()
    assert outcomes["read"] > 0.02 * sum(outcomes.values()) > 0


@pytest.mark.parametrize("first", range(0, IN_SANDBOX, IN_SANDBOX_AT_ONCE))
def test_the_sandbox_answers_each(first: int) -> None:
    for number in range(first, min(first + IN_SANDBOX_AT_ONCE, IN_SANDBOX)):
        seed = -1 - number
        try:
            read_past(mutated(seed))
        except FilesError as error:
            assert error.code in REFUSALS, seed  # noqa: PT017
            assert error.code != "unreadable", seed  # noqa: PT017

"""Cards with bytes changed at random: read, or refused, and nothing else ever comes out of it.

`make prove-readers` tries two million, and a thousand through the sandbox.
"""

import os
from io import BytesIO

import pytest

from cards.child import parse
from cards.reader import REFUSALS, REMARKS, read_card
from cards.schema import normalise
from cards.values import CardFormatError
from files.errors import ContentError, FilesError
from tests.cards.hostile import mutated

COUNT = int(os.environ.get("PROOF_FILES", "3000"))
AT_ONCE = 10_000  # in one test, so that one which hangs is told by its limit of time
IN_SANDBOX = max(COUNT // 2_000, 5)
IN_SANDBOX_AT_ONCE = 100


@pytest.mark.parametrize("first", range(0, COUNT, AT_ONCE))
def test_only_its_own_error_ever_leaves_the_reader(first: int) -> None:
    outcomes = {"read": 0}
    for seed in range(first, min(first + AT_ONCE, COUNT)):
        try:
            form, file = parse(BytesIO(mutated(seed)))
        except CardFormatError as error:
            outcomes[error.code] = outcomes.get(error.code, 0) + 1
        except Exception as error:  # noqa: BLE001 -- the seed is what somebody needs
            pytest.fail(f"seed {seed}: {error!r}")
        else:
            outcomes["read"] += 1
            assert form in {"json", "png", "charx", "lorebook"}, seed
            assert normalise(file.known.card)[0] == file.known.card, seed
            assert set(file.known.remarks) <= REMARKS.keys(), seed
    print(outcomes)  # noqa: T201
    assert outcomes.keys() <= {"read", "too_large"} | REFUSALS.keys()
    assert outcomes["read"] > 0.02 * sum(outcomes.values()) > 0


@pytest.mark.parametrize("first", range(0, IN_SANDBOX, IN_SANDBOX_AT_ONCE))
def test_the_sandbox_answers_each(first: int) -> None:
    for number in range(first, min(first + IN_SANDBOX_AT_ONCE, IN_SANDBOX)):
        seed = -1 - number
        try:
            read_card(mutated(seed))
        except ContentError as error:
            assert error.code in REFUSALS, seed  # noqa: PT017
            assert error.code != "unreadable", seed  # noqa: PT017
        except FilesError as error:
            assert error.code == "too_large", seed  # noqa: PT017

"""What neighbours lend each other, in two ways."""

import numpy as np
import pytest

from memory.surroundings import Surroundings

BEFORE, AFTER = (0.5, 0.3, 0.2), (0.4, 0.2, 0.1)


@pytest.mark.parametrize("share", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("reach", [True, False])
@pytest.mark.parametrize("n", [0, 1, 2, 60])
def test_a_few_lend_as_all_do(share: float, reach: bool, n: int) -> None:
    chance = np.random.default_rng(n)
    around = Surroundings(np.cumsum(chance.random(n) < 0.2), reach)
    values = np.floor(chance.random((n, 3)) * 3) * (chance.random((n, 3)) < share)
    rows, columns = (np.repeat(one, values[values > 0].astype(int)) for one in np.nonzero(values))
    few, every = around.lent_by_few(rows, columns, 3, BEFORE, AFTER), around.lent(values, BEFORE, AFTER)
    np.testing.assert_allclose(few, every, rtol=1e-12)


def test_nobody_lends_beyond_the_talk() -> None:
    around = Surroundings(np.array([0, 0, 1, 1]), reach=True)
    lent = around.lent_by_few(np.array([1]), np.array([0]), 1, BEFORE, AFTER)
    assert lent[:, 0].tolist() == [0.4, 1.0, 0.0, 0.0]

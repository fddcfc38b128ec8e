"""A candidate memory of which a test says only what matters."""

from collections.abc import Callable
from typing import Any

import pytest

from memory.scoring import Remembered

Row = Callable[..., Remembered]


@pytest.fixture
def row() -> Row:
    def row(**values: Any) -> Remembered:
        usual: dict[str, Any] = {"fit": 0.0, "likeness": 1.0, "age_days": 0.0, "idle_days": 0.0}
        return Remembered(**usual | values)

    return row

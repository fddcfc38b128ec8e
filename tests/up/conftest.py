"""A folder for Postgres: it runs as another user where we are root, and pytest shuts others out of its own folders."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def shared_folder() -> Iterator[Path]:
    """A new folder for the tests of one module, gone after them."""
    with tempfile.TemporaryDirectory(prefix="kith-") as folder:
        yield Path(folder).resolve()

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from django.test import Client


@pytest.fixture(autouse=True)
def no_one_has_tried_before() -> Iterator[None]:
    """Every test starts with fresh limits on sign-in and sign-up, and leaves none behind."""
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def visitor() -> Client:
    """Someone whose cookies are kept and whose forms need their CSRF tokens."""
    return Client(enforce_csrf_checks=True)

from collections.abc import AsyncIterator

import pytest

from providers.http.clients import aclose_clients


@pytest.fixture(autouse=True)
async def _no_connection_is_left() -> AsyncIterator[None]:
    yield
    await aclose_clients()

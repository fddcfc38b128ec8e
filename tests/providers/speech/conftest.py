from collections.abc import AsyncIterator

import pytest

from providers.connections import aclose_client


@pytest.fixture(autouse=True)
async def _no_connection_is_left() -> AsyncIterator[None]:
    yield
    await aclose_client()

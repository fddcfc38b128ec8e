"""Pages that ask model servers hold no database connection meanwhile.

A module of its own: where rows are made once for all tests of a module, one transaction is open for as long.
"""

import pytest
from aiohttp import web
from django.db import connections
from django.test import Client

from providers.selection import choose_chat
from tests.admin.test_providers import tried
from tests.fixtures.model_servers import serve


@pytest.mark.django_db(transaction=True)
def test_a_try_holds_no_connection_while_it_waits(desk: Client) -> None:
    connection, held = connections["default"], []

    async def look(_request: web.Request) -> web.Response:
        held.append(connection.connection is not None)
        return web.json_response({}, status=500)

    with serve({"/v1/chat/completions": look}) as address:
        row = choose_chat("Mine", f"{address}/v1", "big")
        tried(desk, row)
        desk.post("/admin/mind/", {"deed": "try", "base_url": f"{address}/v1", "model": "big"})
    assert held
    assert not any(held)

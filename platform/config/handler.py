"""Django's ASGI handler, which holds no database connection while an answer is read."""

from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from accounts.shares import address_of, step_aside, visiting
from database.threads import in_request_thread


def _nothing() -> None:
    """Do nothing, in the thread whose connection is given back."""


class Handler(ASGIHandler):
    """Gives the request's connection back as soon as its answer is made, and closes an answer that cannot be written.

    Each request is a visit, of which a person or an address has some at once (`accounts.shares`).

    Django's own keeps the connection until the answer has been sent: whoever reads slowly keeps it as long as they like.
    Where sending fails, as it does for the second of two pipelined requests whose sender is gone, it closes nothing at
    all, and the connection is lost to the pool.
    """

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer the request, within a visit; GateError where too many arrive from its address."""
        async with visiting(address_of(scope)) as visit:
            visit.arrive()
            await super().handle(scope, receive, send)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Return the answer, made; what it streams later visits the database anew."""
        response: HttpResponseBase = await super().get_response_async(request)
        step_aside()
        await in_request_thread(_nothing)
        return response

    async def send_response(self, response: Any, send: Any) -> None:
        """Send the answer; however that fails, it is closed."""
        try:
            await super().send_response(response, send)
        except Exception:
            await sync_to_async(response.close)()
            raise

"""The ASGI application: pages and API by Django, sockets by Channels; its lifespan runs the heartbeat of replies."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ["KITH_IS_WEB"] = "1"  # for config.settings

from typing import Any

import django
from channels.routing import ProtocolTypeRouter, URLRouter
from django.urls import path, re_path

django.setup(set_prefix=False)

import config.urls  # noqa: F401 (loads all pages now, instead of while the first request waits)
from companions.sockets.consumers import CompanionConsumer, MeConsumer
from config.http.asgi_layers import BodyLimit, Handler, Lifespan, OwnContext, StaticFiles
from voice.call import CallConsumer


async def refuse(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Refuse a socket at an unknown path."""
    await receive()
    await send({"type": "websocket.close"})


addresses = [
    path("ws/companions/<uuid:companion_id>/", CompanionConsumer.as_asgi()),  # type: ignore[arg-type]
    path("ws/companions/<uuid:companion_id>/call/", CallConsumer.as_asgi()),  # type: ignore[arg-type]
    path("ws/me/", MeConsumer.as_asgi()),  # type: ignore[arg-type]
    re_path("", refuse),  # type: ignore[arg-type]
]
sockets = URLRouter(addresses)  # type: ignore[arg-type]
pages = StaticFiles(BodyLimit(Handler()))
application = OwnContext(ProtocolTypeRouter({"http": pages, "websocket": sockets, "lifespan": Lifespan()}))

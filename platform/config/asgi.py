"""The ASGI application: pages and API by Django, sockets by Channels, and the life of replies by the lifespan."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application
from django.urls import path

pages = get_asgi_application()

from companions.consumers import CompanionConsumer
from config.body_limit import BodyLimit
from config.lifespan import Lifespan

sockets = URLRouter([path("ws/companions/<uuid:companion_id>/", CompanionConsumer.as_asgi())])  # type: ignore[arg-type, list-item]
application = ProtocolTypeRouter({"http": BodyLimit(pages), "websocket": sockets, "lifespan": Lifespan()})

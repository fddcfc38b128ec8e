"""The channel layer, through which web processes tell each other of replies."""

from typing import Any

from channels.layers import BaseChannelLayer, get_channel_layer
from redis.exceptions import RedisError

from companions.replies.stream import client

AWAY = (RedisError, OSError)
"""What is raised while Redis does not answer."""


def layer() -> BaseChannelLayer:
    found = get_channel_layer()
    if found is None:
        raise RuntimeError("settings.CHANNEL_LAYERS names no layer")
    return found


async def new_channel() -> str:
    """Return a new channel of this process; raises what AWAY holds, and then leaves nothing behind in the layer."""
    await client().ping()
    return str(await layer().new_channel())


def posted(group: str, message: dict[str, Any]) -> tuple[str, bytes]:
    """The channel and the words of the PUBLISH that `group_send` would make, for who has other commands to go with it.

    The layer's own name for the channel is to be had within an event loop only.
    """
    one: Any = layer()
    return f"{one._kwargs.get('prefix', 'asgi')}__group__{group}", one.serialize(message)

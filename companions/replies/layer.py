"""The channel layer, through which web processes tell each other of replies."""

from channels.layers import BaseChannelLayer, get_channel_layer
from redis.exceptions import RedisError

AWAY = (RedisError, OSError)
"""What is raised while Redis does not answer."""


def layer() -> BaseChannelLayer:
    found = get_channel_layer()
    if found is None:
        raise RuntimeError("settings.CHANNEL_LAYERS names no layer")
    return found

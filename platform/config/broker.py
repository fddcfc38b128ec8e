"""Celery's way to Redis: kombu's own, except for what it does with tasks in work when Redis goes away."""

from kombu.transport import redis


class Channel(redis.Channel):
    """A channel that does not give tasks in work back to Redis when it is closed.

    When Redis goes away, kombu fails at that, and the worker ends, for which it waits until all tasks have ended. Nothing
    is lost: tasks are nudges, and sweeps find their rows.
    """

    do_restore = False


class Transport(redis.Transport):
    """Kombu's transport with that channel."""

    Channel = Channel

"""Celery's way to Redis: kombu's own, except for what it does with tasks in work when Redis goes away."""

from kombu.transport import redis


class Channel(redis.Channel):
    """A channel that neither gives tasks in work back to Redis when it is closed, nor acknowledges them afterwards.

    When Redis goes away, kombu fails at both, and the worker ends, for which it waits until all tasks have ended. Nothing
    is lost: tasks are nudges, and sweeps find their rows.
    """

    do_restore = False

    def basic_ack(self, delivery_tag: str, multiple: bool = False) -> None:
        """Acknowledge the task, if the channel is open."""
        if not self.closed:
            super().basic_ack(delivery_tag, multiple)

    def basic_reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Reject the task, if the channel is open."""
        if not self.closed:
            super().basic_reject(delivery_tag, requeue)


class Transport(redis.Transport):
    """Kombu's transport with that channel."""

    Channel = Channel

"""Whoever made something of a message, in a layer above, hears of it when it is hidden from every later prompt."""

from django.dispatch import Signal

messages_hidden = Signal()
"""Sent with `companion_id` and `ids`, of messages, in the transaction that hides them; the sender is Message."""

"""What memory needs: things said to a companion, without a turn."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from companions.models import Companion, Message
from companions.saying import say_all
from memory.models import Memory

DAY = datetime(2023, 5, 2, 9, tzinfo=UTC)
Say = Callable[..., list[Memory]]


@pytest.fixture
def say(db: None) -> Say:
    """Says texts to a companion, a minute apart from `at` on; the memories in their order."""

    def say(companion: Companion, *texts: str, role: str = "user", at: datetime = DAY) -> list[Memory]:
        session = companion.sessions.get(ended_at=None)
        messages = [
            Message(
                companion=companion,
                conversation=session.conversation,
                session=session,
                role=role,
                text=text,
                said_at=at + timedelta(minutes=n),
            )
            for n, text in enumerate(texts)
        ]
        with transaction.atomic():
            say_all(companion, messages, at)
        return [message.memory for message in messages]

    return say

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from pytest_django import Settings

from accounts.models import User
from companions.life import reaching
from companions.models import Companion, Message, Waking
from companions.saying import open_session, say
from integrations.push.models import Subscription
from integrations.push.subscribing import subscribe
from tests.fixtures.push_service import Browser, PushService

NOON = datetime(2046, 5, 4, 10, tzinfo=UTC)


@pytest.fixture
def service(settings: Settings) -> Iterator[PushService]:
    """A push service that the operator lets be asked."""
    with PushService() as one:
        settings.OUTBOUND_ALLOWED = {one.host}
        yield one


@pytest.fixture
def laptop(service: PushService) -> Browser:
    return Browser(service.url)


@pytest.fixture
def subscription(alice: User, laptop: Browser) -> Subscription:
    """Alice's browser, which is notified."""
    return subscribe(alice, laptop.address, "Firefox · Linux", NOON)


def wrote(companion: Companion, text: str, at: datetime = NOON) -> Message:
    """What the companion said in a waking, on its way."""
    waking = Waking.objects.create(companion=companion, origin="timer", due_at=at, created_at=at)
    session = open_session(companion.conversation, at)
    message = Message(
        companion=companion, conversation=companion.conversation, session=session, role="assistant", text=text,
        said_at=at, waking=waking,
    )  # fmt: skip
    say(message, at)
    reaching.deliver(message, at)
    return message

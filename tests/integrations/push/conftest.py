from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.models import User
from integrations.push.models import Subscription
from integrations.push.subscriptions import subscribe
from tests.companions.life.waking import NOON
from tests.fixtures.push_service import Browser, PushService


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

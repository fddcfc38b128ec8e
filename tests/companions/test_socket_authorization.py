"""Whether sockets may stay, asked for many at once."""

import asyncio
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Token, User
from companions.models import Companion
from companions.sockets.authorization import NO_SUCH_COMPANION, NOT_SIGNED_IN, Checker, Opened, find_endings
from tests.fixtures.turns import bearer

NOW = timezone.now()


def scope(token: str) -> dict[str, Any]:
    return {"headers": [(b"authorization", f"Bearer {token}".encode())]}


def opened(user: User, companion: Companion | None = None) -> Opened:
    _, token = Token.objects.issue(user, "a socket")
    return Opened(scope(token), user.pk, companion.pk if companion else None)


@pytest.mark.django_db
def test_many_are_asked_for_in_four_queries_and_a_savepoint(
    alice: User, bob: User, mira: Companion, django_assert_num_queries: Any
) -> None:
    asking = [opened(alice, mira), opened(bob, mira), opened(bob), opened(alice, mira), opened(alice)]
    asking += [asking[0]._replace(user_id=bob.pk), asking[0]._replace(scope=scope("kith_none"))]
    Token.objects.owned_by(alice).order_by("pk")[1].revoke(NOW)
    with django_assert_num_queries(6):
        found = find_endings(asking, NOW)
    gone = [None, NO_SUCH_COMPANION, None, NOT_SIGNED_IN, None, NOT_SIGNED_IN, NOT_SIGNED_IN]
    assert found == gone
    assert Token.objects.filter(last_used_at=NOW).count() == 4


@pytest.mark.django_db(transaction=True)
async def test_who_goes_meanwhile_leaves_the_others_their_answer(alice: User, mira: Companion) -> None:
    headers = {"headers": [await bearer(alice)]}
    checker = Checker()
    leaving = asyncio.create_task(checker.find_ending(Opened(headers, alice.pk, mira.pk)))
    staying = asyncio.create_task(checker.find_ending(Opened(headers, alice.pk + 1, mira.pk)))
    await asyncio.sleep(0)
    leaving.cancel()
    assert await staying == NOT_SIGNED_IN
    assert leaving.cancelled()

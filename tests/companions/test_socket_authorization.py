"""Whether a socket may stay open."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Token, User
from companions.models import Companion
from companions.sockets.authorization import NO_SUCH_COMPANION, NOT_SIGNED_IN, find_ending

NOW = timezone.now()


def scope(token: str) -> dict[str, Any]:
    return {"headers": [(b"authorization", f"Bearer {token}".encode())]}


@pytest.mark.django_db
def test_a_socket_stays_with_a_live_token_of_the_same_person_and_a_companion_of_theirs(
    alice: User, bob: User, mira: Companion
) -> None:
    (_, alices), (_, bobs), (revoked, revoked_text) = (
        Token.objects.issue(user, "a socket") for user in (alice, bob, alice)
    )
    revoked.revoke(NOW)
    assert find_ending(scope(alices), alice.pk, mira.pk, NOW) is None
    assert find_ending(scope(alices), alice.pk, None, NOW) is None
    assert find_ending(scope(bobs), bob.pk, None, NOW) is None
    assert find_ending(scope(bobs), bob.pk, mira.pk, NOW) == NO_SUCH_COMPANION
    assert find_ending(scope(revoked_text), alice.pk, mira.pk, NOW) == NOT_SIGNED_IN
    assert find_ending(scope(alices), bob.pk, mira.pk, NOW) == NOT_SIGNED_IN
    assert find_ending(scope("kith_none"), alice.pk, mira.pk, NOW) == NOT_SIGNED_IN
    assert Token.objects.filter(last_used_at=NOW).count() == 2

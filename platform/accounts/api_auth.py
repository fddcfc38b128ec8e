"""How the API knows who asks: by a bearer token and nothing else; a session's cookie opens nothing here."""

from datetime import datetime

from asgiref.sync import sync_to_async
from django.http import HttpRequest
from django.utils import timezone
from ninja.security import HttpBearer

from accounts import place
from accounts.models import Token, User


def token_user(plaintext: str, now: datetime) -> User | None:
    """Whose live token this is; its use is recorded at most once a minute."""
    if not plaintext.isascii():
        return None
    token = Token.objects.matching(plaintext)
    if token is None:
        return None
    token.touch(now)
    return token.user


class BearerToken(HttpBearer):
    """`Authorization: Bearer TOKEN`; `request.user` and `request.auth` become the token's user."""

    async def authenticate(self, request: HttpRequest, token: str) -> User | None:
        user = await sync_to_async(token_user)(token, timezone.now())
        if user is not None:
            request.user = user
            place.enter(user)
        return user

"""How the API knows who asks: by a bearer token and nothing else; a session's cookie opens nothing here."""

from collections.abc import Iterable
from datetime import datetime

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from ninja.security import HttpBearer

from accounts.activate_locale import activate_locale
from accounts.errors import TokenExpiredError
from accounts.models import Token, User
from accounts.models.token import digest_of
from accounts.shares import identifying
from database.threads import in_request_thread


def token_user(plaintext: str, now: datetime) -> User | None:
    """Whose live token this is; its use is recorded at most once a minute. TokenExpiredError past its end."""
    if not plaintext.isascii():
        return None
    token = Token.objects.matching(plaintext)
    if token is None:
        return None
    if token.has_expired(now):
        raise TokenExpiredError(
            "token_expired", _("This token has expired. Make another one on the settings page.")
        )
    token.touch(now)
    return token.user


def token_holders(plaintexts: Iterable[str], now: datetime) -> dict[str, int]:
    """The keys of the users of those that are live tokens; their use is recorded as `token_user` does."""
    plain = {digest_of(one): one for one in plaintexts if one.isascii()}
    live = Token.objects.live().unexpired(now).filter(digest__in=plain)
    live.touch(now)
    return {plain[digest]: user for digest, user in live.values_list("digest", "user")}


class BearerToken(HttpBearer):
    """`Authorization: Bearer TOKEN`; `request.user` and `request.auth` become the token's user."""

    async def authenticate(self, request: HttpRequest, token: str) -> User | None:
        async with identifying() as visit:
            user = await in_request_thread(token_user, token, timezone.now())
        if visit:
            await visit.begin(user.pk if user else None)
        if user is not None:
            request.user = user
            activate_locale(user)
        return user

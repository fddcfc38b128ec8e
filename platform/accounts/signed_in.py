from django.http import HttpRequest

from accounts.models import User


class SignedInRequest(HttpRequest):
    """A request that `login_required` has let through."""

    user: User

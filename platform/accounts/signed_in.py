from django.http import HttpRequest

from accounts.models import User


class SignedInRequest(HttpRequest):
    """A request of a person whom `login_required` or a bearer token has let through."""

    user: User

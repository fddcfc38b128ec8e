"""Opening an account by the operator's hand, without a form."""

from typing import Any

from allauth.account.models import EmailAddress
from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction

from accounts.errors import AccountExistsError
from accounts.models import User

OPERATORS = "Operators"


def create_account(email: str, password: str, **fields: Any) -> User:
    """A user whose e-mail address counts as verified, staff in the operators' group; AccountExistsError where one is."""
    try:
        with transaction.atomic():
            user = User.objects.create_user(email, password, **fields)
            EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
            if user.is_staff:
                user.groups.add(*Group.objects.filter(name=OPERATORS))
    except IntegrityError as error:
        raise AccountExistsError(f"There is an account for {email} already.") from error
    return user

"""`create_account` and `create_token`: quiet and scriptable."""

from datetime import timedelta
from io import StringIO

import pytest
from allauth.account.models import EmailAddress
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import Token, User
from tests.fixtures.people import PASSWORD


def run(*arguments: str) -> str:
    printed = StringIO()
    call_command(*arguments, stdout=printed)
    return printed.getvalue()


@pytest.mark.django_db
def test_an_account_with_a_password_is_made_without_a_word() -> None:
    assert run("create_account", "Carol@Example.org", "--password", PASSWORD) == ""
    carol = User.objects.get(email="carol@example.org")
    assert carol.check_password(PASSWORD)
    assert not carol.is_staff
    assert not carol.is_superuser
    assert EmailAddress.objects.get(user=carol).verified


@pytest.mark.django_db
def test_without_a_password_only_a_random_one_is_printed() -> None:
    printed = run("create_account", "carol@example.org")
    password = printed.removesuffix("\n")
    assert len(password) >= 16
    assert password.split() == [password]
    assert User.objects.get(email="carol@example.org").check_password(password)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("flags", "is_staff", "is_superuser"),
    [(["--staff"], True, False), (["--superuser"], True, True), (["--staff", "--superuser"], True, True)],
)
def test_operators_are_made_by_flags(flags: list[str], is_staff: bool, is_superuser: bool) -> None:
    run("create_account", "carol@example.org", "--password", PASSWORD, *flags)
    carol = User.objects.get(email="carol@example.org")
    assert (carol.is_staff, carol.is_superuser) == (is_staff, is_superuser)


def test_an_address_that_is_taken_is_one_clear_line(alice: User) -> None:
    with pytest.raises(CommandError, match=r"There is an account for ALICE@example\.org already"):
        run("create_account", "ALICE@example.org", "--password", PASSWORD)
    assert User.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("email", ["", "nothing", "a@b", "a\x00@example.org", f"{'a' * 250}@example.org"])
def test_what_is_no_address_is_refused(email: str) -> None:
    with pytest.raises(CommandError, match="is not an e-mail address"):
        run("create_account", email, "--password", PASSWORD)
    assert not User.objects.exists()


@pytest.mark.django_db
def test_an_empty_password_is_refused() -> None:
    with pytest.raises(CommandError, match="empty"):
        run("create_account", "carol@example.org", "--password", "")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("password", "reason"),
    [
        ("short1", "too short"),
        ("password123", "too common"),
        ("839201746552", "entirely numeric"),
        ("carol@example", "too similar"),
        ("x" * 1_001, "longer than"),
    ],
)
def test_a_password_that_the_page_would_refuse_is_refused(password: str, reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        run("create_account", "carol@example.org", "--password", password)
    assert not User.objects.exists()


def test_a_token_is_printed_once_and_only_it(alice: User) -> None:
    printed = run("create_token", "Alice@example.org", "--name", "laptop")
    plaintext = printed.removesuffix("\n")
    token = Token.objects.get()
    assert (token.user, token.name) == (alice, "laptop")
    assert Token.objects.matching(plaintext) == token
    assert plaintext not in str(Token.objects.values().get())


@pytest.mark.django_db
def test_a_token_for_nobody_is_refused() -> None:
    with pytest.raises(CommandError, match="no active account"):
        run("create_token", "nobody@example.org")


@pytest.mark.parametrize("name", ["", "x" * 81])
def test_a_tokens_name_fits_its_column(alice: User, name: str) -> None:
    with pytest.raises(CommandError, match="1 to 80 characters"):
        run("create_token", "alice@example.org", "--name", name)
    assert not Token.objects.exists()


def test_a_token_can_be_made_for_some_days(alice: User) -> None:
    before = timezone.now()
    run("create_token", "alice@example.org", "--days", "7")
    expires_at = Token.objects.get().expires_at
    assert expires_at is not None
    assert before + timedelta(days=7) <= expires_at <= timezone.now() + timedelta(days=7)


@pytest.mark.parametrize("days", ["0", "-1", "3651"])
def test_a_token_for_no_days_is_refused(alice: User, days: str) -> None:
    with pytest.raises(CommandError, match="1 to 3650 days"):
        run("create_token", "alice@example.org", "--days", days)
    assert not Token.objects.exists()

"""What is prepared before Kith is served, if that is interrupted."""

from contextlib import redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet
from django.contrib.auth import get_user_model
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from accounts.mfa import MFAAdapter
from config.up.prepare import (
    OPERATOR,
    collect_static,
    make_operator,
    refuse_newer_tables,
    warn_of_lost_key,
)
from config.up.supervisor import SAID_CHARACTERS
from config.up.terminal import say
from database.encryption import encrypt
from providers.models import Provider

pytestmark = pytest.mark.django_db


class ClosedTerminal(StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_there_is_no_operator_whose_password_was_never_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with redirect_stdout(ClosedTerminal()), pytest.raises(BrokenPipeError):
        make_operator()
    assert not get_user_model().objects.exists()
    make_operator()
    password = capsys.readouterr().out.split()[-1]
    assert get_user_model().objects.get(email=OPERATOR).check_password(password)


def test_what_is_said_to_a_closed_terminal_stops_nothing() -> None:
    with redirect_stdout(ClosedTerminal()):
        say("worker has been started again.")


def test_characters_that_a_terminal_does_not_have_are_replaced() -> None:
    shown = BytesIO()
    with redirect_stdout(TextIOWrapper(shown, "latin-1")):
        say("worker: très long…")
        assert shown.getvalue() == "worker: très long?\n".encode("latin-1")


def test_static_files_that_could_not_be_collected_stop_the_start_and_are_not_taken_for_collected(
    tmp_path: Path, settings: Any
) -> None:
    settings.BASE_DIR = tmp_path  # where no manage.py is
    settings.STATIC_ROOT = tmp_path / "static"
    settings.STATIC_ROOT.mkdir()
    with pytest.raises(SystemExit, match="could not be collected"), collect_static():
        pass
    assert not list(settings.STATIC_ROOT.iterdir())


def test_tables_of_a_later_kith_are_refused() -> None:
    refuse_newer_tables()
    MigrationRecorder(connection).record_applied("companions", "9999_pasts_from_a_later_kith")
    name = r"companions\.9999_pasts_from_a_later_kith"
    with pytest.raises(SystemExit, match=rf"later version of Kith \({name}\)") as ended:
        refuse_newer_tables()
    assert len(str(ended.value)) <= SAID_CHARACTERS  # so that `make up` says all of it


def test_a_database_that_was_restored_without_its_key_is_told_as_such(
    settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    tom = get_user_model().objects.create_user("tom@example.org")
    secret = MFAAdapter().encrypt("JBSWY3DPEHPK3PXP")
    Authenticator.objects.create(user=tom, type="totp", data={"secret": secret})
    Provider(
        name="A", base_url="https://a.example/v1", model="m", sealed_key=encrypt(b"sk-of-the-family")
    ).save()
    warn_of_lost_key()
    assert capsys.readouterr().out == ""
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    warn_of_lost_key()
    said = " ".join(capsys.readouterr().out.split())
    assert "does not open what this database has encrypted: models' keys, second steps of signing in." in said

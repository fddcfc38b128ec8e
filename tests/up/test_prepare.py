"""What is prepared before Kith is served, if that is interrupted."""

from contextlib import redirect_stdout
from io import StringIO

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from config.up.prepare import OPERATOR, make_operator, refuse_newer_tables

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


def test_tables_of_a_later_kith_are_refused() -> None:
    refuse_newer_tables()
    MigrationRecorder(connection).record_applied("memory", "9999_from_a_later_kith")
    with pytest.raises(SystemExit, match=r"later version of Kith \(memory\.9999_from_a_later_kith\)"):
        refuse_newer_tables()

"""The data folder."""

from pathlib import Path

import pytest

from config.setting_rules import encryption_keys
from config.up.home import hold_home, load_secrets
from config.up.terminal import UpError
from integrations.push.web_push import derive_public_key


def test_letters_logs_and_files_are_the_owners_alone(tmp_path: Path) -> None:
    with hold_home(tmp_path / "kith"):
        modes = {
            path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "kith").iterdir() if path.is_dir()
        }
    assert modes == {"logs": 0o700, "mail": 0o700, "media": 0o700}


def test_the_keys_that_kith_makes_are_keys_and_stay(tmp_path: Path) -> None:
    made = load_secrets(tmp_path)
    assert encryption_keys(made["KITH_ENCRYPTION_KEY"]) == [made["KITH_ENCRYPTION_KEY"]]
    assert len(derive_public_key(made["KITH_VAPID_KEY"])) == 87
    assert load_secrets(tmp_path) == made
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o600


def test_a_folder_of_an_earlier_kith_gets_the_keys_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "secrets").write_text("SECRET_KEY=kept\n")
    made = load_secrets(tmp_path)
    assert made["SECRET_KEY"] == "kept"
    assert {"KITH_ENCRYPTION_KEY", "KITH_VAPID_KEY"} <= made.keys()


def test_damaged_secrets_are_named_and_left_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "secrets").write_bytes(b"\x00\xff")
    with pytest.raises(UpError, match="secrets is damaged"):
        load_secrets(tmp_path)
    assert (tmp_path / "secrets").read_bytes() == b"\x00\xff"

"""The data folder."""

from pathlib import Path

from config.up.home import held


def test_letters_logs_and_files_are_the_owners_alone(tmp_path: Path) -> None:
    with held(tmp_path / "kith"):
        modes = {
            path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "kith").iterdir() if path.is_dir()
        }
    assert modes == {"logs": 0o700, "mail": 0o700, "media": 0o700}

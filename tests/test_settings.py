"""Settings that would open a door by mistake stop the start."""

import os
import subprocess
import sys

import pytest

PUBLIC = "https://kith.example.org"


def refusal(**environment: str) -> str:
    """The last line of what stopped the start; empty where it went on."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KITH_", "SECRET_"))}
    done = subprocess.run(
        [sys.executable, "-c", "import django; django.setup()"],
        env=kept | {"DJANGO_SETTINGS_MODULE": "config.settings"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


@pytest.mark.parametrize(
    "url", ["kith.example.org", "//kith.example.org", "ftp://kith.example.org", "https://"]
)
def test_an_address_that_names_no_host_is_not_taken_for_this_machine(url: str) -> None:
    assert "it must begin with http:// or https://" in refusal(KITH_URL=url)


def test_a_public_kith_needs_its_secret() -> None:
    assert "Set SECRET_KEY" in refusal(KITH_URL=PUBLIC)
    assert not refusal(KITH_URL=PUBLIC, SECRET_KEY="s" * 50)
    assert not refusal()


@pytest.mark.parametrize("probability", ["1.5", "-0.1"])
def test_a_probability_that_is_none_stops_the_start(probability: str) -> None:
    assert "it must be a number from 0 to 1" in refusal(KITH_FLASHBACK_PROBABILITY=probability)

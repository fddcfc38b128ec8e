"""What a process does without, so that an idle Kith is small: each of these takes 7 to 50 MB."""

import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.core.management import load_command_class

from config.up.run import worker_program

WORKER = """
import django
from config.celery import app
django.setup()
app.loader.import_default_modules()
"""


@pytest.mark.parametrize(
    ("code", "unneeded"),
    [
        pytest.param(WORKER, {"config.urls", "config.api", "companions.pages", "safety.admin"}, id="worker"),
        pytest.param(
            "import config.up.__main__", {"celery", "redis", "valkey", "numpy", "django.db"}, id="runner"
        ),
        pytest.param("import providers.rehearsal.__main__", {"django", "numpy"}, id="rehearsal model"),
    ],
)
def test_a_process_loads_nothing_that_it_seldom_needs(code: str, unneeded: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*({unneeded} & sys.modules.keys()))"],
        cwd=settings.BASE_DIR,
        env=os.environ | {"CELERY_SKIP_CHECKS": "true"},
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.strip() == ""


def test_a_worker_skips_the_checks_that_would_load_every_page() -> None:
    assert "--skip-checks" in worker_program().command


@pytest.mark.parametrize("name", ["create_account", "create_token", "remove_second_step"])
def test_a_command_about_an_account_skips_them_too(name: str) -> None:
    assert load_command_class("accounts", name).requires_system_checks == []

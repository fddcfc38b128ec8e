"""What is written to the logs: structured lines, and never what was said."""

import json
import re
import subprocess
import sys
from typing import Any

import pytest
import structlog
from django.test import Client
from django.utils import timezone
from structlog.testing import capture_logs

from config.logs import configure_structlog
from providers.errors import ProviderRefused
from providers.failures import note_failure

SAID = "Lavender-and-honey"

SCENE = """
import asyncio, logging, logging.config
import django
from uvicorn.config import LOGGING_CONFIG
logging.config.dictConfig(LOGGING_CONFIG)  # uvicorn does so before it loads Kith
django.setup()
import structlog
from django.db import DataError, OperationalError


def logged(write, error):
    try:
        try:
            raise ValueError(said)
        except ValueError as first:
            raise error from first
    except Exception as caught:
        write(caught)


async def forgotten():
    raise ValueError(said)


async def forget():
    task = asyncio.ensure_future(forgotten())
    await asyncio.sleep(0)
    del task


said = {said!r}
words = DataError("value too long\\nDETAIL:  Failing row contains (" + said + ").")
logged(lambda _: structlog.get_logger("kith").exception("it broke"), words)
logged(lambda _: logging.getLogger("uvicorn.error").exception("Exception in ASGI application"), KeyError(said))
logged(
    lambda error: logging.getLogger("celery.app.trace").error(
        "Task %(name)s: %(exc)s", {{"name": "embed", "exc": repr(error)}}, exc_info=True
    ),
    RuntimeError(said),
)
logged(lambda _: logging.getLogger("kith").exception("away"), OperationalError("connection refused\\n" + said))
asyncio.run(forget())
structlog.get_logger("kith").info("all well", reply_id="7", user_agent="x\\x9b2J\\u202e")
"""


@pytest.fixture(scope="module")
def written() -> str:
    done = subprocess.run(
        [sys.executable, "-c", SCENE.format(said=SAID)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stderr


def lines(written: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.splitlines()]


def test_every_line_is_json_with_level_and_logger(written: str) -> None:
    assert {"event", "level", "logger", "timestamp"} <= set.intersection(*map(set, lines(written)))
    assert lines(written)[-1]["reply_id"] == "7"


def test_no_line_steers_the_terminal_that_shows_it(written: str) -> None:
    assert written.isascii()
    assert lines(written)[-1]["user_agent"] == "x\x9b2J\u202e"


def test_what_was_said_is_not_logged_with_what_was_raised(written: str) -> None:
    assert len(lines(written)) == 6
    assert SAID not in written


def test_an_error_is_known_by_its_class_and_place(written: str) -> None:
    broke, asgi, task, away, forgotten, _well = lines(written)
    assert "django.db.utils.DataError" in broke["exception"]
    assert "builtins.ValueError\nand then" in broke["exception"]
    assert ", in logged" in broke["exception"]
    assert asgi["exception"].endswith("builtins.KeyError")
    assert task["event"] == "Task embed: RuntimeError"
    assert away["exception"].endswith("OperationalError: connection refused")
    assert forgotten["event"] == "Task exception was never retrieved"


def test_loggers_in_use_follow_when_the_settings_are_read_again() -> None:
    log = structlog.get_logger("in.use")
    log.debug("first")
    configure_structlog()
    with capture_logs() as seen:
        log.debug("second")
    assert [line["event"] for line in seen] == ["second"]


def test_no_key_that_an_address_holds_is_logged(client: Client, db: None) -> None:
    with capture_logs() as requests:
        client.get("/accounts/password/reset/key/1-lavender/?next=honey")
    started = [line["request"] for line in requests if line["event"] == "request_started"]
    assert started == ["GET /accounts/password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$"]
    assert not {"lavender", "honey"} & set(re.findall(r"[a-z]+", str(requests)))


def test_no_password_that_a_models_address_holds_is_logged(db: None) -> None:
    error = ProviderRefused(f"Wrong: {SAID}")
    with capture_logs() as lines:
        note_failure("https://kith:hunter2@models.example:8443/v1", "m", error, timezone.now(), None)
    assert [line["host"] for line in lines] == ["models.example:8443"]
    assert not re.search(f"hunter2|{SAID}", str(lines))

"""What is reported of a request that failed: nothing that holds the key in it."""

import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.core import mail
from django.core.signals import got_request_exception
from django.db import connection
from django.http import HttpRequest
from django.test import Client
from django.views.debug import ExceptionReporter

KEY = "sk-quokka-4711-zebra"
SERVER = {"base_url": "http://127.0.0.1:9/v1", "model": "tiny", "api_key": KEY}
ROW = SERVER | {"name": "Mine", "capability": "chat", "order": 0, "is_active": "on"}


@pytest.fixture
def reports() -> Iterator[list[str]]:
    """Django's reports of what failed, in HTML and as text: its page for developers, and the mail to admins."""
    made: list[str] = []

    def report(request: HttpRequest, **rest: Any) -> None:
        reporter = ExceptionReporter(request, *sys.exc_info())
        made.extend((reporter.get_traceback_html(), reporter.get_traceback_text()))

    got_request_exception.connect(report)
    yield made
    got_request_exception.disconnect(report)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "fields", "table"),
    [
        ("/admin/mind/", SERVER | {"deed": "use"}, "providers_provider"),
        ("/admin/providers/provider/add/", ROW, "providers_provider"),
        ("/settings/models/add/", ROW, "providers_ownprovider"),
    ],
)
def test_no_report_of_an_error_shows_a_key(
    path: str,
    fields: dict[str, Any],
    table: str,
    desk: Client,
    reports: list[str],
    settings: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    settings.OWN_PROVIDERS_EACH, settings.ADMINS = 2, ["olive@example.org"]
    desk.raise_request_exception = False
    with connection.cursor() as cursor:
        cursor.execute(f'ALTER TABLE "{table}" RENAME TO gone')
    answer = desk.post(path, fields)
    assert answer.status_code == 500
    assert len(reports) == 2
    assert "ProgrammingError" in reports[0]
    for text in (*reports, caplog.text, answer.content.decode()):
        assert KEY not in text
    assert mail.outbox == []

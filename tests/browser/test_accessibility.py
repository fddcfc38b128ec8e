"""What axe-core finds wrong on pages that people use most. `make prove-accessibility` asks it of every page."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from bench.accessibility import Audit
from bench.screenshots.album import LONG_NAME, load_pages
from tests.fixtures.live import Live

PAGES = {
    "login",
    "signup",
    "new",
    "talk",
    "talk-branches",
    "memories",
    "diary",
    "companion",
    "settings",
    "admin-today",
    "admin-person",
    "admin-group-one",
}


@pytest.mark.timeout(600)
def test_axe_finds_nothing_wrong_on_these_pages(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "SEED_LANGUAGE", "en")
    monkeypatch.setitem(os.environ, "SEED_LONG_NAME", LONG_NAME)
    # A Kith of its own: what is made to be seen holds a provider, by which other tests' companions would answer.
    with Live(tmp_path, "accessibility", is_connected=True) as live:
        pages = load_pages(live, sorted(PAGES))
        audit = Audit(browser, live)
        audit.fill({name: path for name, path in pages.items() if name in PAGES}, [390], ["light"])
    assert audit.count == len(PAGES) * 2  # both schemes
    assert not audit.violations, "\n".join(audit.violations)

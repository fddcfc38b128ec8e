"""What axe-core finds wrong on pages that people use most. `make prove-accessibility` asks it of every page."""

import os

import pytest
from playwright.sync_api import Browser

from bench.accessibility import Audit
from bench.screenshots.__main__ import LONG_NAME, load_pages
from tests.fixtures.live import Live

PAGES = {
    "welcome",
    "login",
    "signup",
    "companions",
    "new",
    "talk",
    "talk-trouble",
    "talk-branches",
    "memories",
    "always-full",
    "diary",
    "companion",
    "settings",
    "admin",
    "admin-user",
    "admin-message-one",
}


@pytest.mark.timeout(400)
def test_axe_finds_nothing_wrong_on_these_pages(
    browser: Browser, live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "SEED_LANGUAGE", "en")
    monkeypatch.setitem(os.environ, "SEED_LONG_NAME", LONG_NAME)
    pages = load_pages(live, sorted(PAGES))
    audit = Audit(browser, live)
    audit.fill({name: path for name, path in pages.items() if name in PAGES}, [390])
    assert audit.count == len(PAGES) * 2  # both schemes
    assert not audit.violations, "\n".join(audit.violations)

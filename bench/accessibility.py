"""python -m bench.accessibility [--only NAME…]: what axe-core finds wrong on every page at two widths, light and dark."""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from bench.screenshots.album import LONG_NAME, Album, launch, load_pages, running
from tests.fixtures.live import Live

WIDTHS = (390, 1280)
VIOLATIONS = {"resultTypes": ["violations"]}  # what is right need not be described, element by element
COLOURS = {**VIOLATIONS, "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}


class Audit(Album):
    """Asks axe-core of each page at each width, of its colours in both schemes; `violations` tell page, rule, element."""

    def __init__(self, browser: Browser, live: Live) -> None:
        super().__init__(browser, live, Path(), "en")
        self.violations: list[str] = []
        self.count = 0

    def _take(self, page: Page, name: str, suffix: str) -> None:
        self._ask(page, f"{name}-{suffix}", VIOLATIONS)
        page.emulate_media(color_scheme="dark")
        self._ask(page, f"{name}-{suffix}, dark,", COLOURS)
        page.emulate_media(color_scheme="light")

    def _ask(self, page: Page, view: str, options: dict[str, Any]) -> None:
        self.count += 1
        for rule in Axe().run(page, options=options).response["violations"]:
            for node in rule["nodes"]:
                place = f"{view} {rule['id']} {node['target'][-1]}"
                self.violations.append(f"{place}: {node['failureSummary'].splitlines()[-1].strip()}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.accessibility", description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="beginnings of pages' names")
    parser.add_argument("--widths", nargs="*", type=int, default=list(WIDTHS))
    wanted = parser.parse_args()
    os.environ |= {"SEED_LANGUAGE": "en", "SEED_LONG_NAME": LONG_NAME}
    with running(is_connected=True) as live, sync_playwright() as playwright:
        audit = Audit(launch(playwright), live)
        audit.fill(load_pages(live, wanted.only), wanted.widths, ["light"])
        audit.browser.close()
    print(*audit.violations, sep="\n")
    print(f"{audit.count} views, {len(audit.violations)} violations")
    sys.exit(bool(audit.violations))


if __name__ == "__main__":
    main()

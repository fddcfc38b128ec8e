"""`make prove-reach`: is anything out of reach or covered on any page, on small screens, in landscape and zoomed?"""

import argparse
import os
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from bench.screenshots.album import LONG_NAME, Album, launch, load_pages, running
from tests.fixtures.live import Live

VIEWS = {
    "320": (320, 568),
    "390": (390, 844),
    "820": (820, 1180),
    "1280": (1280, 800),
    "landscape": (740, 360),
    "zoomed": (640, 400),  # 1280 by 800 at 200 %
}
MENUS = 3  # of a page's; each message of a talk has one
FIND = (Path(__file__).parent / "reach.js").read_text()


class Reach(Album):
    """Looks at each page in each view; `faults` tell page, view and what is out of reach or covered."""

    def __init__(self, browser: Browser, live: Live) -> None:
        super().__init__(browser, live, Path(), "en")
        self.faults: list[str] = []
        self.count = 0
        self.views = VIEWS

    def _take(self, page: Page, name: str, suffix: str) -> None:
        viewport = page.viewport_size
        for view, (width, height) in self.views.items():
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(100)
            self.count += 1
            self.faults += [f"{name} {view} {fault}" for fault in find_out_of_reach(page)]
        if viewport:
            page.set_viewport_size(viewport)


def find_out_of_reach(page: Page) -> list[str]:
    """Return a sentence for each control of the page, as it stands, that cannot be reached, its menus opened too."""
    faults: list[str] = page.evaluate(FIND)
    if page.locator("dialog[open]").count():
        return faults
    for menu in page.locator(".menu:has(> summary:visible)").all()[:MENUS]:
        menu.evaluate("menu => { menu.open = true; }")
        faults += [f"in the menu: {fault}" for fault in menu.evaluate(FIND)]
        menu.evaluate("menu => { menu.open = false; }")
    return faults


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.reach", description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="beginnings of pages' names")
    wanted = parser.parse_args()
    os.environ |= {"SEED_LANGUAGE": "en", "SEED_LONG_NAME": LONG_NAME}
    with running(is_connected=True) as live, sync_playwright() as playwright:
        reach = Reach(launch(playwright), live)
        reach.fill(load_pages(live, wanted.only), [390], ["light"])
        reach.browser.close()
    print(*reach.faults, sep="\n")
    print(f"{reach.count} views, {len(reach.faults)} faults")
    sys.exit(bool(reach.faults))


if __name__ == "__main__":
    main()

"""python -m bench.screenshots FOLDER [--language zh-hans]: every page, at two widths, light and dark, to be looked at."""

import argparse
import os
from pathlib import Path

from playwright.sync_api import sync_playwright

from bench.screenshots.album import LONG_NAME, Album, launch, load_pages, running


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.screenshots", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--language", default="en", choices=["en", "zh-hans"])
    parser.add_argument("--only", nargs="*", default=[], help="beginnings of pages' names")
    parser.add_argument("--widths", nargs="*", type=int, default=[390, 1280])
    parser.add_argument("--connected", action="store_true", help="as with a language model connected")
    wanted = parser.parse_args()
    wanted.folder.mkdir(parents=True, exist_ok=True)
    os.environ |= {"SEED_LANGUAGE": wanted.language, "SEED_LONG_NAME": LONG_NAME}
    with running(is_connected=wanted.connected) as live, sync_playwright() as playwright:
        browser = launch(playwright)
        pages = load_pages(live, wanted.only)
        Album(browser, live, wanted.folder, wanted.language).fill(pages, wanted.widths)
        browser.close()


if __name__ == "__main__":
    main()

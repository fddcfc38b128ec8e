"""A Kith with something on every page, and an album of its pages at some widths, light and dark."""

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect

from tests.browser.chromium import CHROMIUM
from tests.fixtures.embedded import Embedded
from tests.fixtures.live import Live

ROOT = Path(__file__).resolve().parents[2]
PHONE = 800  # narrower is a phone
OUTSIDE = ("welcome", "login", "signup", "reset", "not-here")
SCHEMES = ("light", "dark")
PASSWORD = "correct horse battery"
EMAIL, OPERATOR = "somebody@example.org", "operator@example.org"
LONG_NAME = "Anastasia-Theodora von Hohenstein-Wackerbarth, Keeper of the Northern Light"
SEED = ROOT / "bench" / "screenshots" / "seed.py"


def launch(playwright: Playwright) -> Browser:
    """Start the system's Chromium, quiet and without a window."""
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    return playwright.chromium.launch(executable_path=CHROMIUM, args=flags)


@contextmanager
def running(*, is_connected: bool) -> Iterator[Live]:
    with tempfile.TemporaryDirectory(prefix="kith-screenshots-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with Embedded(folder / "services", durable=False) as services:
            os.environ |= {"DATABASE_URL": services.database_url, "REDIS_URL": services.redis_url}
            home = folder / "kith"  # beside it the static files are collected: no other run's are shown
            home.mkdir()
            with Live(home, "screenshots", is_connected=is_connected) as live:
                yield live


def load_pages(live: Live, beginnings: list[str]) -> dict[str, str]:
    """Fill the Kith with what is to be seen, and return the paths of the pages by names that begin so."""
    pages = json.loads(live.run(SEED.read_text()).splitlines()[-1])
    return {name: path for name, path in pages.items() if name.startswith(tuple(beginnings or [""]))}


def _is_outside(name: str) -> bool:
    return name in OUTSIDE


def _is_admin(name: str) -> bool:
    return name.startswith("admin")


def _is_inside(name: str) -> bool:
    return not _is_outside(name) and not _is_admin(name)


class Album:
    """Takes each page at each width in each scheme."""

    def __init__(self, browser: Browser, live: Live, folder: Path, language: str) -> None:
        self.browser, self.live, self.folder, self.language = browser, live, folder, language

    def fill(self, pages: dict[str, str], widths: list[int], schemes: Sequence[str] = SCHEMES) -> None:
        for width in widths:
            for scheme in schemes:
                for is_mine, email in ((_is_outside, ""), (_is_inside, EMAIL), (_is_admin, OPERATOR)):
                    context = self._context(width, scheme)
                    kept = {name: path for name, path in pages.items() if is_mine(name)}
                    self._visit_all(context.new_page(), kept, email, f"{width}-{scheme}")
                    context.close()

    def _context(self, width: int, scheme: str) -> BrowserContext:
        locale = "zh-CN" if self.language == "zh-hans" else "en-GB"
        return self.browser.new_context(
            viewport={"width": width, "height": 844 if width < PHONE else 800},
            color_scheme=scheme,  # type: ignore[arg-type]
            locale=locale,
            timezone_id="Europe/Berlin",
            device_scale_factor=1.5 if width < PHONE else 1,
            has_touch=width < PHONE,
            is_mobile=width < PHONE,
            reduced_motion="reduce",  # what arrives would be taken half faded in
        )

    def _visit_all(self, page: Page, pages: dict[str, str], email: str, suffix: str) -> None:
        if pages and email:
            self._sign_in(page, email)
        for name, path in pages.items():
            page.goto(self.live.url + path)
            if "/reauthenticate/" in page.url:
                page.locator("input[name=password]").fill(PASSWORD)
                page.locator("main form button").click()
                page.wait_for_url(f"**{path}")
            if page.locator("[name=reason_to_open]").count():
                self._take(page, "admin-why", suffix)
                page.locator("[name=reason_to_open]").fill("Asked for help with an answer that failed.")
                page.locator("[name=reason_to_open]").press("Enter")
                page.wait_for_load_state()
            self._prepare(page, name)
            self._take(page, name, suffix)

    def _sign_in(self, page: Page, email: str) -> None:
        page.goto(f"{self.live.url}/accounts/login/")
        page.locator("input[name=login]").fill(email)
        page.locator("input[name=password]").fill(PASSWORD)
        page.locator("main form button").click()
        page.wait_for_url("**/companions/**")  # to characters where there are none yet

    def _prepare(self, page: Page, name: str) -> None:
        if name.startswith("talk"):
            expect(page.locator("#send")).to_be_enabled()
            page.wait_for_timeout(300)
        if name in {"talk-open", "talk-told"}:
            page.locator(".remembered > summary").last.click()
            page.wait_for_timeout(400)
        if name == "talk-open":
            page.locator(".menu summary").last.click(force=True)
            page.wait_for_timeout(400)
        if name == "lore-tried":
            said = {"en": "When does the night train leave?", "zh-hans": "夜车几点从站台开？"}
            page.locator("#try-text").fill(said[self.language])
            page.locator("#try-text").locator("xpath=ancestor::form").get_by_role("button").click()
            page.locator("#tried .memory").first.wait_for()
        if name == "about-tried":
            # No model of the album can be reached.
            answer = {
                "en": "South, if I must. The lamp comes along.",
                "zh-hans": "往南，如果非去不可。灯也带上。",
            }
            lines = [{"rehearsed": False}, {"piece": answer[self.language]}, {"done": True}]
            body = "".join(f"{json.dumps(line)}\n" for line in lines)
            page.route("**/about/try/", lambda route: route.fulfill(body=body))
            page.locator("#trial").evaluate("trial => (trial.open = true)")
            said = {"en": "Where do you want to go?", "zh-hans": "你想去哪儿？"}
            page.locator("#trial-text").fill(said[self.language])
            page.locator("#trial form .button").first.click()
            page.locator("#trial [data-stops]").wait_for(state="hidden")
        if name == "talk-lore":
            page.locator(".lore-read > summary").last.click()
        if name == "talk-quote":
            page.locator(".said-by-companion .menu > summary").last.click(force=True)
            page.locator(".said-by-companion [data-quotes]").last.click()
        if name == "talk-keys":
            page.evaluate("document.getElementById('keys').showModal()")
        if name == "memories-search":
            page.locator(".memory .folded > summary").first.click()
        if name == "menu-open":
            page.locator(".talk-menu > summary").click()
        if name in {"diary-entry", "profile"}:
            page.locator(".sentence > summary").first.click()
        if name.startswith("delete-"):
            page.locator(".choose > summary").click()
            page.locator("[data-ticks]").click()
            page.locator(
                f"#chosen button{'[name=all]' if name == 'delete-all' else '.button-danger'}"
            ).click()
            page.locator("dialog[open]").wait_for()
        if name == "forgetting-open":
            for folded in reversed(page.locator(".fold:not([open]) > summary").all()):
                folded.click()
        if name == "mind-values":
            page.locator("#values > summary").click()
        if name == "mind-file":
            page.locator("#values > summary").click()
            preset = {"temp": 1.1, "min_p": 0.05, "genamt": 400, "tfs": 1, "mirostat_mode": 0}
            file = {"name": "p.json", "mimeType": "application/json", "buffer": json.dumps(preset).encode()}
            page.locator("#preset-file").set_input_files(files=[file])  # type: ignore[list-item]
            page.locator("#values form").last.locator("button").click()
        if name == "search-dialog":
            page.locator("#search-talk").click()
            page.locator("dialog[open] #q").press_sequentially("train")
            page.locator(".found").wait_for()
        if name == "diary-dialog":
            page.locator("#ending a").click()
            page.wait_for_timeout(600)
        if name == "memory-dialog":
            page.locator(".memory-ways").first.locator("a").last.click()
            page.wait_for_timeout(600)

    def _take(self, page: Page, name: str, suffix: str) -> None:
        is_whole = not name.startswith(
            ("talk", "memory-dialog", "diary-dialog", "search-dialog", "menu-open", "delete-")
        )
        size = page.viewport_size
        assert size
        if is_whole:  # not by `full_page`, which scrolls rows of tabs away from where they are
            height = page.evaluate("document.documentElement.scrollHeight")
            page.set_viewport_size({**size, "height": max(size["height"], height)})
        page.screenshot(path=self.folder / f"{name}-{suffix}.png")
        page.set_viewport_size(size)

"""What a person does in the browser, in their own words."""

import itertools
import os
from typing import Self

from playwright.sync_api import Locator, Page, expect

from tests.fixtures.live import Live

PASSWORD = "correct horse battery"
_numbers = itertools.count(1)


class Person:
    def __init__(self, page: Page, live: Live) -> None:
        self.page, self.live = page, live
        self.email = f"person-{os.getpid()}-{next(_numbers)}@example.org"

    @classmethod
    def signed_in(cls, page: Page, live: Live, language: str = "en") -> Self:
        """Return somebody who has signed up and in, but not by the pages: `test_first_minutes` does."""
        person = cls(page, live)
        given = {"sessionid": live.sign_in(person.email, language), "csrftoken": "x" * 32}
        page.context.add_cookies(
            [{"name": name, "value": value, "url": live.url} for name, value in given.items()]
        )
        return person

    def visit(self, path: str) -> None:
        self.page.goto(f"{self.live.url}{path}")

    def sign_up(self) -> None:
        self.visit("/accounts/signup/")
        self._fill_in()

    def sign_up_in_chinese(self) -> None:
        self.visit("/")
        self.page.get_by_role("button", name="简体中文").click()
        expect(self.page.locator("html")).to_have_attribute("lang", "zh-hans")
        self.page.get_by_role("link", name="注册账号").click()
        self._fill_in()

    def _fill_in(self) -> None:
        self.page.locator("input[name=email]").fill(self.email)
        self.page.locator("input[name=password1]").fill(PASSWORD)
        self.page.locator("main form button").click()
        self.page.wait_for_url("**/companions/new/")

    def make_companion(self, name: str = "Mira", greeting: str = "Hello, I am Mira.") -> None:
        """Create one, and go to the talk."""
        self.visit(self.create_companion(name, greeting))
        expect(self.page.locator("#send")).to_be_enabled()

    def create_companion(self, name: str = "Mira", greeting: str = "Hello, I am Mira.") -> str:
        """Send its form, which other tests fill in; return the path of the talk, which many tests need not open."""
        token = next(one["value"] for one in self.page.context.cookies() if one["name"] == "csrftoken")
        made = self.page.request.post(
            f"{self.live.url}/companions/new/own/",
            form={"name": name, "greeting": greeting, "tint": "40"},
            headers={"X-CSRFToken": token},
            max_redirects=0,
        )
        return made.headers["location"]

    def go(self, place: str, page: str = "") -> None:
        """To one of the companion's five places, and to a page in it."""
        self.page.locator(".places").get_by_role("link", name=place).click()
        if page:
            self.page.locator(".tabs").get_by_role("link", name=page, exact=True).click()

    def write(self, text: str) -> None:
        self.page.locator("#message").fill(text)
        self.page.locator("#message").press("Enter")

    @property
    def answers(self) -> Locator:
        return self.page.locator("#turns .said-by-companion .words")

    @property
    def last_answer(self) -> Locator:
        return self.answers.last

    @property
    def open_replies(self) -> Locator:
        return self.page.locator("[data-reply]")

    def hears(self, text: str) -> None:
        """The newest answer is complete and holds this: it may have begun only after one has looked."""
        expect(self.last_answer).to_contain_text(text)
        expect(self.open_replies).to_have_count(0)
        expect(self.last_answer).to_contain_text(text)

"""`make bench-long-talk`: does a talk of 50,000 messages open, jump, scroll and take one's words like one of ten?

A browser of a phone's size opens the talk, goes to days anywhere in it, scrolls back and forth, and types meanwhile.
An interaction's latency is what the browser's Event Timing tells, from the key to the next frame, in steps of 8 ms;
what is shorter than 16 ms is not told and counts as 16.
"""

import random
import time
from datetime import UTC, datetime, timedelta

from playwright.sync_api import Page, expect, sync_playwright

from bench.common.command import count, machine, parser
from bench.common.timing import measure, show
from bench.screenshots.album import PASSWORD, launch, running

MESSAGES = 50_000
JUMPS = 20
SCROLLS = 60
FILL = """
from bench.search import fill
from companions.models import Companion
fill(Companion.objects.select_related("conversation").get(pk="COMPANION"), MESSAGES)
"""
WATCH = """
    window.interactions = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (entry.interactionId) interactions.push(entry.duration);
    }).observe({ type: "event", durationThreshold: 16, buffered: true });
"""
FIRST = "document.querySelector('#turns [data-message]').dataset.message"
NODES = "document.querySelectorAll('#turns [data-message]').length"


def main() -> None:
    """Fill, use, and print as it goes."""
    asks = parser("long-talk", __doc__)
    asks.add_argument("--messages", type=count, default=MESSAGES, help="messages of the talk")
    asked = asks.parse_args()
    print(f"Kith on {machine()}, a talk of {asked.messages:,} messages.")
    with running(is_connected=True) as live, sync_playwright() as playwright:
        email, _, companion = live.people(1, PASSWORD)[0]
        print(live.manage("shell", "-v0", said=_script(companion, asked.messages)).strip())
        browser = launch(playwright)
        page = browser.new_page(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
        page.goto(f"{live.url}/accounts/login/")
        page.locator("input[name=login]").fill(email)
        page.locator("input[name=password]").fill(PASSWORD)
        page.locator("main form button").click()
        page.wait_for_url("**/companions/**")
        _use(page, f"{live.url}/companions/{companion}/", asked.messages)
        browser.close()


def _script(companion: str, messages: int) -> str:
    return FILL.replace("COMPANION", companion).replace("MESSAGES", str(messages))


def _use(page: Page, url: str, messages: int) -> None:
    def ready() -> None:
        expect(page.locator("#send")).to_be_enabled()
        expect(page.locator("#turns .words").first).to_be_visible()

    page.goto(url)
    ready()
    show("opens", [measure(lambda: (page.goto(url), ready())) for _ in range(JUMPS)])
    chance, first = random.Random(3), datetime.now(UTC).date() - timedelta(minutes=15 * messages)
    days = [first + timedelta(days=chance.randrange(1, messages // 96)) for _ in range(JUMPS)]
    show("goes to a day", [measure(lambda day=day: (page.goto(f"{url}?day={day}"), ready())) for day in days])
    page.goto(url)
    ready()
    page.evaluate(WATCH)
    most, typed = 0, "It is a long time since we spoke of that."
    scrolls = []
    for number in range(SCROLLS):
        edge = page.evaluate(FIRST)
        began = time.perf_counter()
        page.evaluate("scrollTo(0, 300)")
        page.locator("#message").press(typed[number % len(typed)])
        page.locator("#turns .said .menu > summary").last.evaluate(
            "menu => menu.focus({preventScroll: true})"
        )
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        page.wait_for_function(f"() => {FIRST} !== {edge!r}")  # the page forbids to evaluate bare words
        scrolls.append((time.perf_counter() - began) * 1000)
        most = max(most, page.evaluate(NODES))
    show("a page further back, with keys meanwhile", scrolls)
    taken: list[float] = page.evaluate("interactions")
    asked = SCROLLS * 3
    show(f"interactions ({asked} keys)", taken + [16.0] * (asked - len(taken)))
    print(f"at most {most} messages on the page")


if __name__ == "__main__":
    main()

"""The sketch of an answer that is still being written, drawn by the page's own script."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, Route

pytestmark = pytest.mark.browser
STATIC = Path(__file__).resolve().parents[2] / "static"
SKETCH = """async (text) => {
  const { showSketch } = await import("/js/talk/sketch.js");
  const element = document.createElement("div"), began = performance.now();
  showSketch(element, text);
  const bold = Array.from(element.querySelectorAll("strong"), ({ textContent }) => textContent);
  return [element.firstElementChild.localName, bold, performance.now() - began];
}"""


@pytest.mark.parametrize(
    ("text", "tag", "bold"),
    [
        (f"# Far{' ' * 19_000}apart ##", "h3", []),
        (f"- One{chr(10) * 19_000}  Two", "ul", []),
        ("|a\n\n" * 25_000, "p", []),  # longer than the server renders
        (f"{'**a ' * 4_000}**b** c\n", "p", ["b"]),
    ],
    ids=["heading", "list", "long", "bold"],
)
def test_what_has_thousands_of_signs_is_sketched_in_no_time(
    page: Page, text: str, tag: str, bold: list[str]
) -> None:
    def serve(route: Route) -> None:
        path = route.request.url.removeprefix("https://kith.test/")
        kind = "text/javascript" if path else "text/html"
        route.fulfill(body=(STATIC / path).read_text() if path else "", content_type=kind)

    page.route("https://kith.test/**", serve)
    page.goto("https://kith.test/")
    *drawn, milliseconds = page.evaluate(SKETCH, text)
    assert drawn == [tag, bold]
    assert milliseconds < 1_000

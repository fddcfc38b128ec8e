"""The transcript of a call: what was heard, as far as it was, without the signs of Markdown that nobody hears."""

from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.browser
SCRIPT = Path(__file__).resolve().parents[2] / "static/js/voice/transcript.js"
SHOW = """([source, text, until]) => import(source).then(({ Transcript }) => {
  const said = new Transcript(document.body, { person: "You", companion: "Mira" });
  said.knows("reply", text);
  said.hears("reply", until ?? Infinity);
  const shown = [document.querySelector(".call-words")?.innerHTML, said.textOf("reply")];
  document.body.replaceChildren();
  return shown;
})"""
SHRINK = """source => import(source).then(async ({ Transcript }) => {
  const place = document.createElement("ol");
  place.style.cssText = "height: 200px; overflow-y: auto";
  document.body.append(place);
  const said = new Transcript(place, {});
  for (let line = 0; line < 30; line += 1) said.person(String(line), "A line.");
  await new Promise((done) => setTimeout(done, 100));
  place.style.height = "100px";
  await new Promise((done) => setTimeout(done, 100));
  const hidden = place.scrollHeight - place.scrollTop - place.clientHeight;
  place.remove();
  return hidden;
})"""
WITHOUT_SIGNS = {
    "It is **so** warm, __so__ ~~cold~~ `now`.": "It is so warm, so cold now.",
    "这是**重点**，好吗？": "这是重点，好吗？",
    "**One sentence. Another.**": "One sentence. Another.",
    "# Tea\n\n1. Boil water.\n- Wait.\n* Drink.\n> Ah.\n---\nEnd.": "Tea\n\n1. Boil water.\nWait.\nDrink.\nAh.\nEnd.",
    "See [the map](https://example.org/a_b) and ![a cat](cat.png).": "See the map and a cat.",
    "So:\n```python\nprint(a_b)\n```\nYes.": "So:\nprint(a_b)\nYes.",
    "```print(1)```": "print(1)",
    "| tea | milk |\n|---|---|\n| 1 | 2 |": " tea   milk \n 1   2 ",
    "*smiles* Hello, _you_.": "<em>smiles</em> Hello, <em>you</em>.",
    "***Never*** again.": "<em>Never</em> again.",
    "2 * 3 is 6, 2**3 is 8, a_b_c -_- :*": "2 * 3 is 6, 2**3 is 8, a_b_c -_- :*",
    "<b>1 < 2</b> & *<img src=x>*": "&lt;b&gt;1 &lt; 2&lt;/b&gt; &amp; <em>&lt;img src=x&gt;</em>",
}


def show(blank: Page, text: str, until: int | None = None) -> list[str]:
    """What is shown of a reply that was heard up to there, and what the page knows that it says."""
    source = f"data:text/javascript;charset=utf-8,{quote(SCRIPT.read_text())}"
    shown: list[str] = blank.evaluate(SHOW, [source, text, until])
    return shown


@pytest.mark.parametrize("text", WITHOUT_SIGNS)
def test_the_signs_of_markdown_are_not_shown(blank: Page, text: str) -> None:
    assert show(blank, text) == [WITHOUT_SIGNS[text], text]


def test_it_is_shown_as_far_as_it_was_heard(blank: Page) -> None:
    text = "😀 **Yes, I know. That is all** that I know. *Really.*"
    assert show(blank, text, 16)[0] == "😀 Yes, I know."
    assert show(blank, text, 43)[0] == "😀 Yes, I know. That is all that I know."


def test_its_last_line_is_seen_also_once_it_has_less_room(blank: Page) -> None:
    hidden = blank.evaluate(SHRINK, f"data:text/javascript;charset=utf-8,{quote(SCRIPT.read_text())}")
    assert hidden < 1

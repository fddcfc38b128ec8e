"""The notice of a call where the browser says it: the page's own script, with a voice that a test plays."""

from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser

pytestmark = pytest.mark.browser
SCRIPT = Path(__file__).resolve().parents[2] / "static/js/voice/notice.js"
PLAY = """async ([source, isSaid]) => {
  const { playNotice } = await import(source);
  const told = [], call = new AbortController();
  const body = JSON.stringify({ text: "Mira is an AI, not a person." });
  window.fetch = async () => new Response(body, { status: 409 });
  let said = null;
  speechSynthesis.cancel = () => { told.push("cancel"); said.onerror(); };
  speechSynthesis.speak = (saying) => {
    said = saying;
    told.push(`say ${saying.text}`);
    if (isSaid) saying.onend();
    else setTimeout(() => call.abort(), 0);
  };
  const later = new Promise((done) => setTimeout(done, 2000));
  await Promise.race([playNotice("/notice/", { context: null, language: "en", signal: call.signal }), later]);
  call.abort();
  return told;
}"""


@pytest.mark.parametrize("is_said", [False, True])
def test_who_hangs_up_hears_no_more_of_it_and_what_follows_it_goes_on(
    browser: Browser, is_said: bool
) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto("about:blank")
    source = f"data:text/javascript;charset=utf-8,{quote(SCRIPT.read_text())}"
    told = page.evaluate(PLAY, [source, is_said])
    assert told == ["say Mira is an AI, not a person.", *([] if is_said else ["cancel"])]
    context.close()

"""A companion's mind in a browser: its manner and values by keyboard, a model of one's own, and a change of models."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.person import Person
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser
CHOOSE = """
from providers.selection import choose_chat
choose_chat("{model}", "{url}", "{model}", slots=0)
"""
FORGET = """
from providers.models import Provider
Provider.objects.all().delete()
"""
COMPARE = """
from django.utils import timezone
from companions.minds.comparison.comparison import find_due, run
for pk in find_due(timezone.now()):
    run(pk, timezone.now)
"""


@pytest.fixture
def models(person: Person, live: Live) -> Iterator[Any]:
    """Puts a model before all others, of which the mind of a new companion then tells; afterwards there is none."""
    mind = f"{live.url}{person.create_companion()}mind/"

    def choose(model: str) -> None:
        live.run(CHOOSE.format(model=model, url=live.rehearsal.url))
        tells(f"<strong>{model}</strong>")

    def tells(text: str) -> None:
        """The web process follows a change within two seconds."""
        while text not in person.page.request.get(mind).text():
            person.page.wait_for_timeout(100)

    yield choose
    live.run(FORGET)
    tells("No language model is connected yet.")


def assert_fits(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_on_a_phone_manner_and_values_are_chosen_by_keyboard_alone(person: Person) -> None:
    page = person.page
    page.set_viewport_size({"width": 390, "height": 844})
    person.visit(f"{person.create_companion()}mind/")
    assert_fits(page)
    page.get_by_role("button", name="Calm").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Calm")).to_have_attribute("aria-pressed", "true")
    page.locator("#values > summary").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Daring (temperature)").focus()
    page.keyboard.type("0.35")
    assert_fits(page)
    page.keyboard.press("Enter")
    expect(page.locator(".notices")).to_contain_text("Saved")
    expect(page.get_by_label("Daring (temperature)")).to_have_value("0.35")
    page.locator("#values > summary").click()
    page.get_by_label("Daring (temperature)").fill("7")
    page.keyboard.press("Enter")
    expect(
        page.locator("#values .field-error").first
    ).to_be_visible()  # and the value is there to be put right
    expect(page.get_by_label("Daring (temperature)")).to_have_value("7")


def test_in_the_dark_and_in_chinese_a_model_of_ones_own_is_added_and_tried(
    browser: Browser, live: Live
) -> None:
    given: dict[str, Any] = {"color_scheme": "dark", "reduced_motion": "reduce", "service_workers": "block"}
    context = browser.new_context(**given, viewport={"width": 390, "height": 844})
    page = Person.signed_in(context.new_page(), live).page
    page.goto(f"{live.url}/settings/")
    page.get_by_label("Language").select_option("zh-hans")
    page.get_by_role("button", name="Save").first.click()
    page.get_by_role("link", name="我的模型").click()
    assert_fits(page)
    page.locator("input[name=name]").fill("我的")
    page.locator("input[name=base_url]").fill(live.rehearsal.url)
    page.locator("input[name=api_key]").fill("sk-quokka")
    page.get_by_role("button", name="列出模型").click()
    expect(page.locator("#own-model-listed")).to_contain_text("1 个模型")
    page.locator("input[name=model]").fill("mine")
    page.locator("input[name=model]").press("Enter")
    live.rehearsal.script({"answer": "晚上好。"})
    page.get_by_role("button", name="试一试").click()
    expect(page.locator(".notices")).to_contain_text("晚上好。")
    assert_fits(page)
    assert "sk-quokka" not in page.content()
    page.get_by_role("button", name="删除").click()
    expect(page.locator(".own-model")).to_have_count(0)
    context.close()


def test_a_change_of_models_is_told_compared_and_taken(person: Person, live: Live, models: Any) -> None:
    page = person.page
    models("quiet")
    person.make_companion()
    talk = page.url
    live.rehearsal.script({"answer": "By quiet."})
    person.write("Who are you?")
    person.hears("By quiet.")
    models("loud")
    page.reload()
    announcement = page.locator(".announcement")
    expect(announcement).to_contain_text("loud")
    announcement.locator("summary").click()
    announcement.get_by_role("link", name="Compare them").click()
    page.get_by_role("button", name="Compare them").click()
    expect(page.locator("#comparison")).to_contain_text("0 of 2 answers")
    live.rehearsal.script({"answer": "Still quiet."}, {"answer": "Now loud!"})
    live.run(COMPARE)
    # By itself, as the page looks again.
    expect(page.locator("#comparison")).to_contain_text("2 of 2 answers")
    expect(page.locator(".exchange")).to_contain_text("Still quiet.")
    expect(page.locator(".exchange")).to_contain_text("Now loud!")
    page.get_by_role("button", name="Switch to loud").click()
    expect(page.locator(".notices")).to_contain_text("will use loud from now on")
    page.goto(talk)
    expect(announcement).to_have_count(0)
    live.rehearsal.reset()
    live.rehearsal.script({"answer": "By loud."})
    person.write("And now?")
    person.hears("By loud.")
    assert {request["model"] for request in live.rehearsal.requests()} == {"loud"}

"""A character from its maker's settings by the operator's desk to somebody else's companion."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.person import Person
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser
OPERATOR = """
from accounts.models import User
User.objects.filter(email="EMAIL").update(is_staff=True, is_superuser=True)
"""


def test_a_character_is_published_approved_and_begun_with_by_another(
    person: Person, page: Page, browser: Browser, live: Live
) -> None:
    person.visit(f"{person.create_companion('Odessa', 'You are late.')}settings/")
    page.get_by_role("link", name="Publish it").click()
    page.get_by_role("link", name="Write who Odessa is").click()
    page.get_by_label("Persona (optional)", exact=True).fill("Odessa keeps a lighthouse.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    person.go("Settings")
    page.get_by_role("link", name="Publish it").click()
    expect(page.get_by_role("heading", name="What will be published")).to_be_visible()
    page.get_by_label("Something it would say").fill("The lamp never sleeps.")
    page.get_by_label("Tags").fill("sea, lighthouses")
    page.get_by_role("radio", name="CC0").check()
    page.get_by_label("What you want to be called").fill("Lanternlight")
    page.get_by_role("checkbox", name="It is mine to share").check()
    page.get_by_role("button", name="Send it to the operators").click()
    expect(page.get_by_text("Version 1: waiting")).to_be_visible()

    operator = Person.signed_in(browser.new_page(service_workers="block"), live)
    live.run(OPERATOR.replace("EMAIL", operator.email))
    desk = operator.page
    desk.goto(f"{live.url}/admin/companions/galleryversion/?state__exact=waiting")
    desk.locator("#result_list tbody th a").first.click()
    expect(desk.get_by_text("The lamp never sleeps.")).to_be_visible()
    desk.get_by_role("button", name="Approve").click()
    expect(desk.get_by_text("The publisher will see this on their page.")).to_be_visible()
    desk.close()
    page.reload()
    expect(page.get_by_text("Version 1: approved")).to_be_visible()

    context = browser.new_context(locale="en-GB", reduced_motion="reduce", service_workers="block")
    other = Person.signed_in(context.new_page(), live)
    other.visit("/companions/new/")
    other.page.get_by_role("link", name="Look around the gallery").click()
    other.page.get_by_role("searchbox").fill("lighthouses")
    other.page.get_by_role("button", name="Search").click()
    other.page.get_by_role("link", name="Look closer · Odessa").click()
    expect(other.page.get_by_text("published by Lanternlight")).to_be_visible()
    other.page.get_by_role("button", name="Start").click()
    expect(other.last_answer).to_contain_text("You are late.")
    context.close()

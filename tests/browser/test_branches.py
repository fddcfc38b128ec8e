"""Saying something anew, choosing among answers, and going from branch to branch, in a browser."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.person import Person
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser


def open_menu(said: Locator) -> Locator:
    said.hover()
    said.locator(".menu > summary").click()
    return said.locator(".menu-list")


def test_an_answer_made_again_stands_beside_the_first(person: Person, live: Live) -> None:
    person.make_companion()
    live.rehearsal.script({"answer": "The first answer."}, {"answer": "The second answer."})
    person.write("What do you think?")
    person.hears("The first answer.")
    open_menu(person.page.locator(".said-by-companion").last).get_by_role(
        "button", name="Answer again"
    ).click()
    person.hears("The second answer.")
    page = person.page
    expect(page.locator(".alternatives:visible")).to_contain_text("2/2")
    page.get_by_role("button", name="Previous one").last.click()
    person.hears("The first answer.")
    expect(page.locator(".alternatives:visible")).to_contain_text("1/2")
    expect(page.get_by_text("The second answer.")).to_have_count(0)
    page.get_by_role("button", name="Next one").last.click()
    person.hears("The second answer.")


def test_on_a_phone_something_is_said_otherwise_and_come_back_to(person: Person, live: Live) -> None:
    person.make_companion()
    page = person.page
    page.set_viewport_size({"width": 390, "height": 844})
    live.rehearsal.script({"answer": "A cat."}, {"answer": "Zip."}, {"answer": "A dog."})
    person.write("I have a cat.")
    person.hears("A cat.")
    person.write("It is called Zip.")
    person.hears("Zip.")
    first = page.locator(".said-by-person").first
    open_menu(first).get_by_role("link", name="Edit", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Your words").fill("I have a dog.")
    dialog.get_by_role("button", name="Resend").click()
    person.hears("A dog.")
    expect(page.locator(".said-by-person .words")).to_have_text(["I have a dog."])

    person.go("Settings", "Branches")
    expect(page.locator(".branch")).to_have_count(2)
    expect(page.locator(".branch[aria-current]")).to_contain_text("A dog.")
    other = page.locator(".branch:not([aria-current])")
    other.locator("summary").click()
    other.get_by_role("textbox").fill("The one with Zip")
    other.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Compare").click()
    expect(page.locator(".two-branches")).to_contain_text("It is called Zip.")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Go there").click()
    person.hears("Zip.")
    expect(page.locator(".said-by-person .words")).to_have_text(["I have a cat.", "It is called Zip."])

    # Whoever goes back to the dog is told, where they look, what stays with the cat.
    page.locator(".said-by-person").first.get_by_role("button", name="Next one").click()
    told = page.get_by_text("3 messages after the other version are kept there.")
    expect(told).to_be_in_viewport()
    live.rehearsal.script({"answer": "Woof."})
    person.write("It barks.")
    person.hears("Woof.")
    expect(told).to_have_count(0)


def test_another_page_of_the_talk_follows_to_the_branch(person: Person, live: Live) -> None:
    person.make_companion()
    live.rehearsal.script({"answer": "First."}, {"answer": "Second."})
    person.write("One.")
    person.hears("First.")
    person.write("Two.")
    person.hears("Second.")
    other = person.page.context.new_page()
    other.goto(person.page.url)
    said = other.locator("#turns")
    expect(said.get_by_text("Second.")).to_be_visible()
    open_menu(person.page.locator(".said-by-companion", has_text="First.")).get_by_role(
        "button", name="Continue from here"
    ).click()
    expect(person.page.get_by_text("You are on a new branch.")).to_be_visible()
    expect(said.get_by_text("Second.")).to_have_count(0)
    expect(said.get_by_text("First.")).to_be_visible()

"""Pictures in the talk: chosen, sent, shown; and told where they cannot be."""

import pytest
from playwright.sync_api import FilePayload, expect

from tests.browser.line import Line, come_back
from tests.browser.person import Person
from tests.companions.face.paintings import painted
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser


def file(name: str, content: bytes) -> FilePayload:
    return {"name": name, "mimeType": "image/png", "buffer": content}


def test_a_picture_chosen_by_the_button_is_kept_over_a_reload_and_sent(person: Person, live: Live) -> None:
    person.make_companion()
    page = person.page
    page.locator("#message").fill("Look at this")
    page.locator("#files").set_input_files([file("cat.png", painted()), file("notes.png", b"no picture")])
    attached = page.locator("#attached li")
    expect(attached.filter(has_text="cat.png").locator("img")).to_be_visible()
    expect(attached.filter(has_text="notes.png")).to_contain_text("Kith cannot read this file.")
    expect(page.get_by_text("Mira cannot see pictures yet")).to_be_visible()
    page.locator("#message").press("Enter")
    expect(page.locator("#connection")).to_have_text("A file could not be uploaded. Try again, or remove it.")
    expect(page.locator("#message")).to_have_value("Look at this")
    page.get_by_role("button", name="Remove · notes.png").click()
    expect(page.locator("#connection")).to_be_empty()
    page.reload()
    expect(attached.locator("img")).to_be_visible()
    live.rehearsal.script({"answer": "I cannot see it."})
    page.locator("#message").press("Enter")
    person.hears("I cannot see it.")
    expect(attached).to_have_count(0)
    page.reload()
    picture = page.locator(".said-by-person .files").get_by_role("img", name="cat.png")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.complete && image.naturalWidth") == 40


def test_the_button_that_attaches_looks_the_same_with_the_focus(person: Person) -> None:
    person.make_companion()
    icon = person.page.locator("label:has(#files) svg")
    before = icon.bounding_box()
    person.page.locator("#files").focus()
    assert icon.bounding_box() == before


def test_a_text_that_is_removed_before_it_is_sent_is_not_read(person: Person) -> None:
    person.make_companion()
    page, attached = person.page, person.page.locator("#attached li")
    texts = [file(f"{number}.txt", b"A secret.") for number in range(4)]
    page.locator("#files").set_input_files([*texts, file("empty.png", b"")])
    expect(attached.locator("progress:visible")).to_have_count(0)
    expect(page.get_by_text("This file is empty.")).to_be_in_viewport()
    for number in range(4):
        with page.expect_response("**/delete/") as response:
            page.get_by_role("button", name=f"Remove · {number}.txt").click()
        assert response.value.status == 204
    person.go("Memory", "Reading")
    expect(page.locator("main")).to_contain_text("Nothing yet. Give Mira")


def test_pictures_are_pasted_and_dropped_and_wait_with_their_message(person: Person, live: Live) -> None:
    person.make_companion()
    page = person.page
    drop = """([event, name, bytes]) => {
        const files = new DataTransfer();
        files.items.add(new File([new Uint8Array(bytes)], name, { type: "image/png" }));
        const given = event === "paste" ? { clipboardData: files } : { dataTransfer: files };
        const made = event === "paste" ? new ClipboardEvent(event, { ...given, bubbles: true, cancelable: true })
            : new DragEvent(event, { ...given, bubbles: true, cancelable: true });
        document.getElementById("message").dispatchEvent(made);
    }"""
    with Line(live.port) as line:
        page.goto(f"{line.url}{page.url.removeprefix(live.url)}")
        expect(page.locator("#send")).to_be_enabled()
        for event, name in (("paste", "pasted.png"), ("drop", "dropped.png")):
            page.evaluate(drop, [event, name, list(painted())])
            expect(page.locator("#attached li", has_text=name).locator("img")).to_be_visible()
        page.get_by_role("button", name="Remove · pasted.png").click()
        line.fall()
        page.locator("#send").click()
        waiting = page.locator(".turn", has=page.locator(".waits"))
        expect(waiting.get_by_role("img", name="dropped.png")).to_have_count(1)
        line.is_down = False
        come_back(page)
        person.hears("I am listening")
        page.reload()
        expect(page.locator(".said-by-person .words")).to_have_text(["dropped.png"])
        expect(page.get_by_role("img", name="dropped.png")).to_be_visible()

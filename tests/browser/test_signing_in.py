"""The second step in a browser: an authenticator app by keyboard alone, and a passkey of a virtual authenticator."""

import re
import time
from collections.abc import Iterator

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.person import PASSWORD, Person
from tests.fixtures.live import Live

pytestmark = pytest.mark.browser


@pytest.fixture
def newcomer(browser: Browser, live: Live) -> Iterator[Person]:
    """Somebody with an account of their own, whose second step no other test meets. Passkeys want a host's name."""
    context = browser.new_context(
        base_url=live.url, locale="en-GB", reduced_motion="reduce", service_workers="block"
    )
    person = Person(context.new_page(), live)
    live.run(f"from accounts.signup import create_account; create_account({person.email!r}, {PASSWORD!r})")
    yield person
    context.close()


def press_through(page: Page, name: str) -> None:
    """Go on by the Tab key until the focus is on what is called so, and press Enter."""
    for _ in range(60):
        page.keyboard.press("Tab")
        focused = page.evaluate("document.activeElement.innerText?.trim() ?? ''")
        if focused.split("\n")[0].startswith(name):
            return page.keyboard.press("Enter")
    raise AssertionError(f"no way to {name} by keyboard")


def sign_in_by_keyboard(page: Page, url: str, email: str) -> None:
    page.goto(f"{url}/accounts/login/")
    page.locator("input[name=login]").focus()
    page.keyboard.type(email)
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")


def confirm_password(page: Page) -> None:
    page.wait_for_url("**/accounts/reauthenticate/**")
    page.locator("input[name=password]").focus()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")


def test_an_authenticator_app_by_keyboard_alone(newcomer: Person) -> None:
    page, url = newcomer.page, newcomer.live.url
    sign_in_by_keyboard(page, url, newcomer.email)
    page.wait_for_url("**/companions/new/")
    newcomer.visit("/accounts/2fa/")
    press_through(page, "Set it up")
    confirm_password(page)
    key = page.locator("#totp-key").inner_text()
    expect(page.locator(".code-picture")).to_be_visible()
    page.locator("input[name=code]").focus()
    page.keyboard.type(format_hotp_value(hotp_value(key, int(time.time()) // 30)))
    page.keyboard.press("Enter")
    page.wait_for_url("**/recovery-codes/")
    spare = page.locator(".codes code").first.inner_text()
    assert re.fullmatch(r"\d{8}", spare)
    page.context.clear_cookies()
    sign_in_by_keyboard(page, url, newcomer.email)
    page.wait_for_url("**/accounts/2fa/authenticate/")
    expect(page.locator("input[name=code]")).to_be_focused()
    page.keyboard.type("000000")
    page.keyboard.press("Enter")
    expect(page.locator(".field-error")).to_be_visible()
    page.locator("input[name=code]").focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(spare)
    page.keyboard.press("Enter")
    page.wait_for_url("**/companions/new/")


def add_authenticator(context: BrowserContext, page: Page) -> None:
    """Give the browser a device that keeps passkeys and always finds its owner's finger."""
    session = context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def test_a_passkey_signs_in_alone_and_is_the_second_step_of_a_password(newcomer: Person) -> None:
    page = newcomer.page
    url = newcomer.live.url.replace("127.0.0.1", "localhost")
    add_authenticator(page.context, page)
    sign_in_by_keyboard(page, url, newcomer.email)
    page.wait_for_url("**/companions/new/")
    page.goto(f"{url}/accounts/2fa/webauthn/add/")
    confirm_password(page)
    page.get_by_label("Its name").fill("My phone")
    page.get_by_role("button", name="Add it").click()
    page.wait_for_url("**/recovery-codes/")
    page.goto(f"{url}/accounts/2fa/webauthn/")
    expect(page.locator(".token-name")).to_have_text("My phone")
    page.context.clear_cookies()
    page.goto(f"{url}/accounts/login/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url("**/companions/new/")
    page.context.clear_cookies()
    sign_in_by_keyboard(page, url, newcomer.email)
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url("**/companions/new/")


def test_where_passkeys_cannot_work_the_page_says_so(newcomer: Person) -> None:
    """An address of numbers is no name that a passkey could belong to."""
    page = newcomer.page
    newcomer.visit("/accounts/login/")
    expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_hidden()
    sign_in_by_keyboard(page, newcomer.live.url, newcomer.email)
    page.wait_for_url("**/companions/new/")
    newcomer.visit("/accounts/2fa/webauthn/add/")
    confirm_password(page)
    expect(page.get_by_text("Passkeys do not work here")).to_be_visible()
    expect(page.get_by_role("button", name="Add it")).to_be_hidden()

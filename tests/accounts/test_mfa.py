"""The second step of signing in: codes of an app and recovery codes, sealed, each good once, and hard to guess."""

import base64
import re
import time
from typing import Any

import pytest
import redis
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from cryptography.fernet import Fernet
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client

from accounts.mfa import MAX_KEYS, AddPasskeyForm
from accounts.models import Token, User
from config.http.asgi_layers import BodyLimit
from tests.accounts.visits import FRESH_PASSWORD, sign_in, submit, who
from tests.fixtures.people import PASSWORD
from tests.fixtures.rest import Api

STEP = "/accounts/2fa/authenticate/"


def code(secret: str, steps: int = 0) -> str:
    """What the app shows, now or so many half minutes later; not right before it shows the next."""
    left = 30 - time.time() % 30
    if steps and left < 2:
        time.sleep(left)
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30 + steps))


def wrong_codes(secret: str) -> list[str]:
    """Codes that the app shows neither now nor around it. Fixed ones would be right by chance, once in 66,000 runs."""
    right = {code(secret, steps) for steps in range(-2, 4)}
    return [guess for guess in (f"{number:06}" for number in range(11)) if guess not in right][:5]


def reauthenticate(client: Client) -> None:
    submit(client, "/accounts/reauthenticate/", password=PASSWORD, next="/settings/")


@pytest.fixture(autouse=True)
def _forgotten_guesses() -> None:
    cache.clear()


@pytest.fixture
def secret(alice: User) -> str:
    """The key of an app that Alice has set up."""
    key = generate_totp_secret()
    TOTP.activate(alice, key)
    RecoveryCodes.activate(alice)
    return key


def set_up(alice: User) -> str:
    """Return the key of an app that is set up on the pages, as another browser did it."""
    client = Client(enforce_csrf_checks=True)
    sign_in(client, alice.email)
    reauthenticate(client)
    page = client.get("/accounts/2fa/totp/activate/")
    assert "no-store" in page["Cache-Control"]
    key = re.search(r'id="totp-key">([A-Z2-7]+)<', page.content.decode())
    assert key
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.content.decode())
    assert token
    response = client.post(
        "/accounts/2fa/totp/activate/", {"csrfmiddlewaretoken": token[1], "code": code(key[1])}
    )
    assert response.url == "/accounts/2fa/recovery-codes/"
    assert not any(key[1] in str(session.get_decoded()) for session in Session.objects.all())
    return key[1]


def recovery_codes(alice: User) -> list[str]:
    codes: list[str] = Authenticator.objects.get(user=alice, type="recovery_codes").wrap().get_unused_codes()
    return codes


def test_a_password_alone_opens_nothing_where_there_is_a_second_step(visitor: Client, alice: User) -> None:
    secret = set_up(alice)
    cache.clear()  # as after half a minute
    assert sign_in(visitor, alice.email).url == STEP
    assert who(visitor) is None
    assert visitor.get("/companions/").status_code == 302
    assert submit(visitor, STEP, code=wrong_codes(secret)[0]).status_code == 200
    assert who(visitor) is None
    assert submit(visitor, STEP, code=code(secret)).url == "/companions/"
    assert who(visitor) == str(alice.pk)


def test_the_admin_is_entered_by_both_steps(visitor: Client, olive: User) -> None:
    Authenticator.objects.create(user=olive, type="totp", data={"secret": "none that opens"})
    response = visitor.post("/admin/login/", {"username": olive.email, "password": PASSWORD})
    assert response.status_code in (302, 403)
    assert (
        submit(visitor, "/accounts/login/", login=olive.email, password=PASSWORD, next="/admin/").url == STEP
    )
    assert visitor.get("/admin/").status_code == 302
    assert who(visitor) is None


@pytest.mark.parametrize("steps", [-1, 0, 1])
def test_a_clock_may_be_half_a_minute_wrong_and_a_code_opens_once(
    visitor: Client, alice: User, secret: str, steps: int
) -> None:
    sign_in(visitor, alice.email)
    shown = code(secret, steps)
    assert submit(visitor, STEP, code=f"{shown[:3]} {shown[3:]}").status_code == 302
    assert cache.delete(f"allauth.mfa.totp.used?user={alice.pk}&code={shown}")  # as after half a minute
    other = Client(enforce_csrf_checks=True)
    sign_in(other, alice.email)
    assert "Incorrect code" in submit(other, STEP, code=shown).content.decode()
    assert who(other) is None
    with redis.Redis.from_url(
        settings.REDIS_URL
    ) as client:  # it is remembered for as long as it would be right
        assert client.ttl(cache.make_key(f"code-used:{alice.pk}:{shown}")) > 60


def test_a_code_that_another_has_used_opens(visitor: Client, alice: User, bob: User, secret: str) -> None:
    TOTP.activate(bob, secret)
    shown = code(secret)
    sign_in(visitor, alice.email)
    assert submit(visitor, STEP, code=shown).status_code == 302
    other = Client(enforce_csrf_checks=True)
    sign_in(other, bob.email)
    submit(other, STEP, code=shown)
    assert who(other) == str(bob.pk)


@pytest.mark.parametrize("steps", [-3, 3])
def test_an_old_code_opens_nothing(visitor: Client, alice: User, secret: str, steps: int) -> None:
    sign_in(visitor, alice.email)
    assert submit(visitor, STEP, code=code(secret, steps)).status_code == 200
    assert who(visitor) is None


@pytest.mark.parametrize("typed", ["", "a\x00b", "0" * 10_000, "不对", "12345"])
def test_what_is_no_code_is_refused_in_a_sentence(
    visitor: Client, alice: User, secret: str, typed: str
) -> None:
    sign_in(visitor, alice.email)
    response = submit(visitor, STEP, code=typed)
    assert response.status_code == 200
    assert response.context["form"].errors["code"]


def test_guessing_codes_is_stopped_also_from_other_browsers(
    visitor: Client, alice: User, secret: str
) -> None:
    sign_in(visitor, alice.email)
    for guess in wrong_codes(secret):
        submit(visitor, STEP, code=guess)
    other = Client(enforce_csrf_checks=True)
    sign_in(other, alice.email)
    response = submit(other, STEP, code=code(secret))
    assert "too many" in response.content.decode().lower()
    assert who(other) is None


def test_a_recovery_code_opens_once(visitor: Client, alice: User, secret: str) -> None:
    spare = recovery_codes(alice)[0]
    sign_in(visitor, alice.email)
    assert submit(visitor, STEP, code=spare).status_code == 302
    assert who(visitor) == str(alice.pk)
    cache.clear()
    other = Client(enforce_csrf_checks=True)
    sign_in(other, alice.email)
    assert submit(other, STEP, code=spare).status_code == 200
    assert len(recovery_codes(alice)) == 9


def test_secrets_are_sealed_in_the_database(alice: User) -> None:
    """Neither the app's key nor what recovery codes are made of stands there in the clear."""
    secret = set_up(alice)
    rows = {row.type: row.data for row in Authenticator.objects.filter(user=alice)}
    assert secret not in str(rows)
    assert not re.search(r"[0-9a-f]{80}", str(rows))  # a seed is 40 bytes
    assert base64.urlsafe_b64decode(rows["totp"]["secret"])[0] == 0x80  # Fernet


@pytest.mark.parametrize("kind", ["app", "recovery code"])
def test_a_code_under_a_lost_encryption_key_is_refused_in_a_sentence(
    visitor: Client, alice: User, secret: str, settings: Any, kind: str
) -> None:
    """As after a restore without the file `secrets`."""
    entered = code(secret) if kind == "app" else recovery_codes(alice)[0]
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    sign_in(visitor, alice.email)
    response = submit(visitor, STEP, code=entered)
    assert "no longer read your second step" in response.content.decode()
    assert who(visitor) is None


@pytest.mark.parametrize(
    "path",
    ["totp/activate/", "totp/deactivate/", "recovery-codes/", "recovery-codes/generate/",
     "recovery-codes/download/", "webauthn/add/"],
)  # fmt: skip
def test_changes_and_secrets_want_the_password_once_more(
    visitor: Client, alice: User, secret: str, path: str
) -> None:
    sign_in(visitor, alice.email)
    submit(visitor, STEP, code=code(secret))
    response = visitor.get(f"/accounts/2fa/{path}", follow=True)
    assert response.redirect_chain[-1][0].startswith("/accounts/reauthenticate/")
    assert secret not in response.content.decode()
    assert not any(spare in response.content.decode() for spare in recovery_codes(alice))


@pytest.mark.parametrize(
    "path",
    ["", "totp/activate/", "totp/deactivate/", "recovery-codes/", "recovery-codes/generate/",
     "recovery-codes/download/", "webauthn/", "webauthn/add/", "reauthenticate/", "webauthn/reauthenticate/"],
)  # fmt: skip
def test_nobody_sees_the_pages_without_signing_in(client: Client, db: None, path: str) -> None:
    response = client.get(f"/accounts/2fa/{path}")
    assert response.status_code in (302, 404)
    if response.status_code == 302:
        assert response.url.startswith("/accounts/login/")


@pytest.mark.parametrize("deed", ["edit", "remove"])
def test_another_persons_passkey_does_not_exist(
    visitor: Client, alice: User, mallory: User, deed: str
) -> None:
    key = Authenticator.objects.create(user=alice, type="webauthn", data={"name": "Hers", "credential": {}})
    sign_in(visitor, mallory.email)
    reauthenticate(visitor)
    for method in (visitor.get, visitor.post):
        response: Any = method(f"/accounts/2fa/webauthn/keys/{key.pk}/{deed}/")
        assert response.status_code in (403, 404)  # 403: without the form's token
    assert Authenticator.objects.filter(pk=key.pk).exists()


HOSTILE = [
    "",
    "null",
    "[]",
    "{}",
    "no JSON",
    '{"id": 1, "rawId": "x", "response": {"clientDataJSON": "!!", "attestationObject": "??"}}',
    '{"id": "AA", "rawId": "AA", "type": "public-key", "response": {"clientDataJSON": "e30", "attestationObject":'
    ' "oA", "authenticatorData": "AA", "signature": "AA", "userHandle": "AA"}}',
    '{"id": 1}',
    '{"rawId": "AA", "response": []}',
    "[" * 60_000,
    "1" * 60_000,
    '{"rawId": "AA", "response": {"clientDataJSON": "e30", "attestationObject": "'
    + "gYGB" * 10_000
    + '"}}',  # nested
]


@pytest.mark.parametrize("credential", HOSTILE, ids=lambda text: text[:20])
def test_what_is_no_passkey_opens_and_adds_nothing(visitor: Client, alice: User, credential: str) -> None:
    submit(visitor, "/accounts/2fa/webauthn/login/", "/accounts/login/", credential=credential)
    assert who(visitor) is None
    sign_in(visitor, alice.email)
    reauthenticate(visitor)
    page = "/accounts/2fa/webauthn/add/"
    assert submit(visitor, page, name="x", passwordless="on", credential=credential).status_code == 200
    assert not Authenticator.objects.exists()


@pytest.mark.parametrize("credential", HOSTILE, ids=lambda text: text[:20])
def test_what_is_no_passkey_is_no_second_step(
    visitor: Client, alice: User, secret: str, credential: str
) -> None:
    sign_in(visitor, alice.email)
    assert submit(visitor, STEP, credential=credential).status_code == 200
    assert who(visitor) is None


def test_a_passkeys_name_and_their_number_have_an_end(visitor: Client, alice: User) -> None:
    sign_in(visitor, alice.email)
    reauthenticate(visitor)
    key = Authenticator.objects.create(user=alice, type="webauthn", data={"name": "k", "credential": {}})
    page = f"/accounts/2fa/webauthn/keys/{key.pk}/edit/"
    assert submit(visitor, page, name="x" * 61).context["form"].errors["name"]
    assert submit(visitor, page, name="My phone").status_code == 302
    key.refresh_from_db()
    assert key.data["name"] == "My phone"
    for _ in range(MAX_KEYS - 1):
        Authenticator.objects.create(user=alice, type="webauthn", data={"name": "k", "credential": {}})
    form = AddPasskeyForm(user=alice, data={"name": "x", "credential": "{}"})
    assert "limit for passkeys" in str(form.errors)


def test_a_new_password_keeps_the_second_step_and_tokens_need_none(
    visitor: Client, alice: User, secret: str
) -> None:
    sign_in(visitor, alice.email)
    submit(visitor, STEP, code=code(secret))
    fresh = {"password1": FRESH_PASSWORD, "password2": FRESH_PASSWORD}
    submit(visitor, "/accounts/password/change/", oldpassword=PASSWORD, **fresh)
    other = Client(enforce_csrf_checks=True)
    assert sign_in(other, alice.email, FRESH_PASSWORD).url == STEP
    assert Token.objects.count() == 0
    assert Api(alice).get("/me").status_code == 200


def test_the_command_line_lets_in_who_has_lost_everything(visitor: Client, alice: User, secret: str) -> None:
    call_command("remove_second_step", "ALICE@example.org")
    assert sign_in(visitor, alice.email).url == "/companions/"


@pytest.mark.parametrize("headers", [[(b"content-length", b"1000000")], []])
@pytest.mark.parametrize("path", ["/accounts/2fa/webauthn/login/", "/language/"])
async def test_nobody_who_is_not_signed_in_sends_a_megabyte(
    path: str, headers: list[tuple[bytes, bytes]]
) -> None:
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"[]," * 30_000, "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    async def read_on(scope: Any, receive: Any, send: Any) -> None:
        for _ in range(11):
            await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    scope = {"type": "http", "path": path, "headers": headers}
    await BodyLimit(read_on)(scope, receive, send)
    assert sent[0]["status"] == 413

"""What makes Kith an app: the service worker at the root, the manifest and its icons, and a policy that lets them be."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from accounts.models import User
from companions.models import Companion
from tests.pages.test_design_tokens import colours

STATIC = Path(settings.BASE_DIR) / "static"
PNG = b"\x89PNG\r\n\x1a\n"


def hexadecimal(linear: tuple[float, float, float]) -> str:
    """A colour as sRGB writes it."""
    parts = [12.92 * one if one <= 0.0031308 else 1.055 * one ** (1 / 2.4) - 0.055 for one in linear]
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def test_the_worker_may_serve_every_page_and_is_looked_at_anew(client: Client) -> None:
    response = client.get("/service-worker.js")
    assert response["Content-Type"].startswith("text/javascript")
    assert response["Service-Worker-Allowed"] == "/"
    assert response["Cache-Control"] == "no-cache"
    assert response.content == (STATIC / "js" / "service-worker.js").read_bytes()


def test_the_page_without_a_network_is_the_same_for_everyone(
    client: Client, alice: User, mira: Companion
) -> None:
    """The worker keeps it: nothing of a person's is in it, no form's token; all that it is made of is named."""
    stranger = client.get("/offline/").content
    client.force_login(alice)
    client.get("/companions/")
    page = client.get("/offline/", headers={"accept-language": "zh-hans"})
    assert page.content == stranger
    text = page.content.decode()
    assert "You are offline" in text
    assert "现在没有网络" in text
    assert "csrf" not in text
    for path in re.findall(r'"(/static/[^"]+)"', text):
        assert (STATIC / path.removeprefix("/static/")).exists(), path


def test_browsers_find_an_icon_by_themselves(client: Client) -> None:
    icon = client.get("/favicon.ico")
    assert icon["Content-Type"] == "image/x-icon"
    assert b"".join(icon)[:4] == b"\x00\x00\x01\x00"


def test_the_addresses_that_the_worker_names_exist(client: Client) -> None:
    source = (STATIC / "js" / "service-worker.js").read_text()
    named = re.findall(r'= "(/[\w./-]+)"', source)
    assert len(named) == 6
    for path in named:
        if path.startswith("/static/"):
            assert (STATIC / path.removeprefix("/static/")).exists()
        else:
            assert client.get(path).status_code in (200, 302, 405), path


def test_the_policy_lets_the_worker_and_the_manifest_be(client: Client, db: None) -> None:
    policy = client.get("/")["Content-Security-Policy"]
    assert "worker-src 'self'" in policy
    assert "manifest-src 'self'" in policy
    assert "unsafe" not in policy


def test_the_manifest_has_what_phones_ask_for(client: Client, db: None) -> None:
    response = client.get("/manifest.webmanifest")
    told = response.json()
    assert response["Content-Type"] == "application/manifest+json"
    assert (told["name"], told["display"], told["scope"]) == ("Kith", "standalone", "/")
    assert told["start_url"] == "/companions/"
    for icon in told["icons"]:
        data = (STATIC / icon["src"].removeprefix("/static/")).read_bytes()
        size = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
        assert (data[:8], f"{size[0]}x{size[1]}") == (PNG, icon["sizes"])
    assert {icon["purpose"] for icon in told["icons"]} == {"any", "maskable"}
    for shortcut in told["shortcuts"]:
        assert client.get(shortcut["url"]).status_code == 302, shortcut
    assert client.get(told["share_target"]["action"]).url == "/accounts/login/?next=/share/"
    assert told["theme_color"] == told["background_color"] == hexadecimal(colours("ground")[0])


def test_every_page_leads_to_the_manifest_in_the_colours_of_the_look(client: Client, db: None) -> None:
    page = client.get("/").content.decode()
    assert '<link rel="manifest" href="/manifest.webmanifest">' in page
    assert '<link rel="apple-touch-icon"' in page
    light, dark = (hexadecimal(one) for one in colours("ground"))
    assert f'<meta name="theme-color" content="{light}" media="(prefers-color-scheme: light)">' in page
    assert f'<meta name="theme-color" content="{dark}" media="(prefers-color-scheme: dark)">' in page


PREVIEWED = ["/", "/accounts/login/", "/accounts/signup/?invite=CODE"]


@pytest.mark.django_db
@pytest.mark.parametrize("path", PREVIEWED)
def test_a_link_to_a_public_page_has_a_preview_without_its_query(client: Client, path: str) -> None:
    found = dict(
        re.findall(r'<meta property="og:(\w+)" content="([^"]*)"', client.get(path).content.decode())
    )
    assert found["url"] == settings.KITH_URL + path.partition("?")[0]
    assert found["image"].startswith(f"{settings.KITH_URL}/static/img/")
    assert found["title"]
    assert found["description"]
    assert "CODE" not in str(found)


@pytest.mark.django_db
def test_a_page_of_a_persons_has_no_preview(client: Client, alice: User, mira: Companion) -> None:
    client.force_login(alice)
    for path in ("/companions/", f"/companions/{mira.pk}/", "/settings/", "/share/?text=x"):
        assert "og:" not in client.get(path).content.decode()


@pytest.mark.django_db
def test_the_button_is_there_with_kiths_key_and_asks_nothing_by_itself(client: Client, alice: User) -> None:
    client.force_login(alice)
    page = client.get("/settings/").content.decode()
    assert 'data-push="B' in page
    assert page.count("data-push-on hidden") == page.count("data-push-off hidden") == 1
    source = (STATIC / "js" / "push.js").read_text()
    assert source.count("requestPermission(") == 1
    assert "async function turnOn() {\n  if ((await Notification.requestPermission())" in source

"""What makes Kith an app: the service worker at the root, the manifest and its icons, and a policy that lets them be."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from accounts.models import User
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


def test_the_worker_keeps_no_page() -> None:
    source = (STATIC / "js" / "service-worker.js").read_text()
    assert not re.search(r'caches|indexedDB|addEventListener\("fetch"', source)


def test_the_addresses_that_the_worker_names_exist(client: Client) -> None:
    source = (STATIC / "js" / "service-worker.js").read_text()
    named = re.findall(r'= "(/[\w./-]+)"', source)
    assert len(named) == 5
    for path in named:
        if path.startswith("/static/"):
            assert (STATIC / path.removeprefix("/static/")).exists()
        else:
            assert client.get(path).status_code in (302, 405), path


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
    assert told["theme_color"] == told["background_color"] == hexadecimal(colours("ground")[0])


def test_every_page_leads_to_the_manifest_in_the_colours_of_the_look(client: Client, db: None) -> None:
    page = client.get("/").content.decode()
    assert '<link rel="manifest" href="/manifest.webmanifest">' in page
    assert '<link rel="apple-touch-icon"' in page
    light, dark = (hexadecimal(one) for one in colours("ground"))
    assert f'<meta name="theme-color" content="{light}" media="(prefers-color-scheme: light)">' in page
    assert f'<meta name="theme-color" content="{dark}" media="(prefers-color-scheme: dark)">' in page


@pytest.mark.django_db
def test_the_button_is_there_with_kiths_key_and_asks_nothing_by_itself(client: Client, alice: User) -> None:
    client.force_login(alice)
    page = client.get("/settings/").content.decode()
    assert 'data-push="B' in page
    assert page.count("data-push-on hidden") == page.count("data-push-off hidden") == 1
    source = (STATIC / "js" / "push.js").read_text()
    assert source.count("requestPermission(") == 1
    assert "async function turnOn() {\n  if ((await Notification.requestPermission())" in source

"""Kith as an installable web app: its manifest, service worker, offline page and icon."""

from typing import Any

from django.conf import settings
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

STATIC = settings.BASE_DIR / "static"
GROUND = "#faf6f1"  # --ground of tokens.css in the light theme; a manifest cannot have a dark one too
ICONS = [
    ("kith-192", "192x192", "any"),
    ("kith-512", "512x512", "any"),
    ("kith-512-maskable", "512x512", "maskable"),
]


@require_safe
def service_worker(request: HttpRequest) -> HttpResponse:
    """Serve the script with all pages in its scope; browsers check for a new version at each visit."""
    script = (STATIC / "js" / "service-worker.js").read_bytes()
    response = HttpResponse(script, content_type="text/javascript; charset=utf-8")
    response["Service-Worker-Allowed"] = "/"
    response["Cache-Control"] = "no-cache"
    return response


@require_safe
def offline(request: HttpRequest) -> HttpResponse:
    """Show the page that the service worker caches for use without a network: one for everyone, in both languages."""
    return HttpResponse(render_to_string("offline.html"))


@require_safe
def favicon(request: HttpRequest) -> FileResponse:
    """Serve the icon that browsers request by themselves from any page."""
    icon = FileResponse((STATIC / "img" / "favicon.ico").open("rb"), content_type="image/x-icon")
    icon["Cache-Control"] = "public, max-age=86400"
    return icon


@require_safe
def manifest(request: HttpRequest) -> JsonResponse:
    """Serve the app's manifest in the visitor's language."""
    response = JsonResponse(build_manifest(), content_type="application/manifest+json")
    response["Cache-Control"] = "private, max-age=86400"
    return response


def build_manifest() -> dict[str, Any]:
    """Return the manifest in the active language."""
    return {
        "id": "/",
        "name": "Kith",
        "short_name": "Kith",
        "description": _("Companions that remember, on a server of your own."),
        "start_url": reverse("companions"),
        "scope": "/",
        "display": "standalone",
        "theme_color": GROUND,
        "background_color": GROUND,
        "categories": ["lifestyle", "productivity"],
        "icons": [
            {"src": static(f"img/{name}.png"), "sizes": size, "type": "image/png", "purpose": purpose}
            for name, size, purpose in ICONS
        ],
        "shortcuts": [
            {"name": _("Companions"), "url": reverse("companions")},
            {"name": _("A new companion"), "url": reverse("companion_new")},
            {"name": _("Settings"), "url": reverse("settings")},
        ],
        "share_target": {
            "action": reverse("share"),
            "method": "GET",
            "params": {"title": "title", "text": "text", "url": "url"},
        },
    }

"""The manifest, by which a phone puts Kith on its home screen; there alone some of them let it notify."""

from django.http import HttpRequest, JsonResponse
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

GROUND = "#faf6f1"  # --ground of tokens.css in light; manifests know of no dark one
ICONS = [("192x192", "any"), ("512x512", "any"), ("512x512", "maskable")]


@require_safe
def manifest(request: HttpRequest) -> JsonResponse:
    told = {
        "id": "/",
        "name": "Kith",
        "short_name": "Kith",
        "description": _("Companions that remember, on a server of your own."),
        "start_url": reverse("companions"),
        "scope": "/",
        "display": "standalone",
        "theme_color": GROUND,
        "background_color": GROUND,
        "icons": [_icon(size, purpose) for size, purpose in ICONS],
    }
    response = JsonResponse(told, content_type="application/manifest+json")
    response["Cache-Control"] = "private, max-age=86400"  # in the language of who asks
    return response


def _icon(size: str, purpose: str) -> dict[str, str]:
    name = f"kith-{size.split('x')[0]}{'-maskable' if purpose == 'maskable' else ''}.png"
    return {"src": static(f"img/{name}"), "sizes": size, "type": "image/png", "purpose": purpose}

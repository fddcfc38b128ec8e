"""What the signed-in site and its service worker ask, by the session's cookie; and the app's manifest."""

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from ninja import Schema
from pydantic import ValidationError

from accounts.authentication import SignedInRequest
from companions.api.schemas import Text
from integrations.push.api import SubscriptionIn
from integrations.push.models import Subscription
from integrations.push.subscriptions import PushError, get_public_key, subscribe, unsubscribe

WORKER = settings.BASE_DIR / "static" / "js" / "service-worker.js"
MAX_BYTES = 10_000
BAD_REQUEST = 400


class EndpointIn(Schema):
    endpoint: Text


@require_safe
def service_worker(request: HttpRequest) -> HttpResponse:
    """Answer with the script from where it may serve every page; browsers look at each visit whether it is a new one."""
    response = HttpResponse(WORKER.read_bytes(), content_type="text/javascript; charset=utf-8")
    response["Service-Worker-Allowed"] = "/"
    response["Cache-Control"] = "no-cache"
    return response


@require_safe
@login_required
@never_cache
def key(request: SignedInRequest) -> HttpResponse:
    """Answer with what the service worker needs, which has no page to read it from."""
    return JsonResponse({"key": get_public_key(), "csrf": get_token(request)})


@require_POST
@login_required
@never_cache
def subscribe_here(request: SignedInRequest) -> HttpResponse:
    """201 where the browser is notified from now on; otherwise why not, in a sentence for the page."""
    try:
        given = SubscriptionIn.model_validate_json(_body(request))
        made = subscribe(request.user, given.address, given.browser, timezone.now())
    except ValidationError:
        return JsonResponse({"detail": _("That did not work. Try again in a moment.")}, status=BAD_REQUEST)
    except PushError as error:
        return JsonResponse({"detail": error.detail}, status=error.status)
    return JsonResponse({"id": str(made.pk)}, status=201)


@require_POST
@login_required
@never_cache
def unsubscribe_here(request: SignedInRequest) -> HttpResponse:
    try:
        unsubscribe(request.user, EndpointIn.model_validate_json(_body(request)).endpoint)
    except ValidationError:
        return HttpResponse(status=BAD_REQUEST)
    return HttpResponse(status=204)


@require_POST
@login_required
def remove(request: SignedInRequest, subscription_id: UUID) -> HttpResponse:
    get_object_or_404(Subscription.objects.owned_by(request.user), pk=subscription_id).delete()
    messages.success(request, _("This device is not notified any more."))
    return redirect("settings")


def _body(request: HttpRequest) -> bytes:
    """Return what was sent, or nothing where it is far too much."""
    return request.body if len(request.body) <= MAX_BYTES else b""


GROUND = "#faf6f1"  # --ground of tokens.css in light; manifests know of no dark one
ICONS = [
    ("kith-192", "192x192", "any"),
    ("kith-512", "512x512", "any"),
    ("kith-512-maskable", "512x512", "maskable"),
]


@require_safe
def manifest(request: HttpRequest) -> JsonResponse:
    manifest = {
        "id": "/",
        "name": "Kith",
        "short_name": "Kith",
        "description": _("Companions that remember, on a server of your own."),
        "start_url": reverse("companions"),
        "scope": "/",
        "display": "standalone",
        "theme_color": GROUND,
        "background_color": GROUND,
        "icons": [
            {"src": static(f"img/{name}.png"), "sizes": size, "type": "image/png", "purpose": purpose}
            for name, size, purpose in ICONS
        ],
    }
    response = JsonResponse(manifest, content_type="application/manifest+json")
    response["Cache-Control"] = "private, max-age=86400"  # in the language of who asks
    return response

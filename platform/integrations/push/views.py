"""Endpoints for the site's own pages and service worker, authenticated by the session cookie."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect
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

MAX_BYTES = 10_000
BAD_REQUEST = 400


class EndpointIn(Schema):
    endpoint: Text


@require_safe
@login_required
@never_cache
def key(request: SignedInRequest) -> HttpResponse:
    """Return the public key and a CSRF token for the service worker, which has no page to read them from."""
    return JsonResponse({"key": get_public_key(), "csrf": get_token(request)})


@require_POST
@login_required
@never_cache
def subscribe_here(request: SignedInRequest) -> HttpResponse:
    """Subscribe the browser and answer 201, or an error with a sentence for the page."""
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
    messages.success(request, _("That device no longer gets notifications."))
    return redirect("settings")


def _body(request: HttpRequest) -> bytes:
    """Return the request's body, or b"" if it is longer than MAX_BYTES."""
    return request.body if len(request.body) <= MAX_BYTES else b""

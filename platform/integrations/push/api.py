from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import Field, Router, Schema, Status
from pydantic import StringConstraints

from accounts.authentication import SignedInRequest
from companions.api.schemas import FullListOut, Text
from integrations.push.models import Address, Subscription
from integrations.push.subscriptions import ENDPOINT_CHARACTERS, get_public_key, subscribe

router = Router(tags=["notifications"])


class KeyOut(Schema):
    key: str | None = Field(
        description="The applicationServerKey for subscribing; null if this server does not send "
        "notifications."
    )


class KeysIn(Schema):
    p256dh: Annotated[Text, StringConstraints(max_length=200)]
    auth: Annotated[Text, StringConstraints(max_length=200)]


class SubscriptionIn(Schema):
    """A browser's PushSubscription as JSON, and a name for the browser."""

    endpoint: Text = Field(max_length=ENDPOINT_CHARACTERS)
    keys: KeysIn
    browser: Text = Field("", max_length=80)

    @property
    def address(self) -> Address:
        return Address(self.endpoint, self.keys.p256dh, self.keys.auth)


class SubscriptionOut(Schema):
    """A subscription. Its endpoint and keys are never returned."""

    id: UUID
    browser: str
    created_at: datetime
    used_at: datetime | None


class SubscriptionsOut(FullListOut[SubscriptionOut]):
    pass


@router.get(
    "/key", response=KeyOut, operation_id="get_push_key", summary="Get the key that a browser subscribes with"
)
def get_push_key(request: SignedInRequest) -> dict[str, Any]:
    return {"key": get_public_key()}


@router.get(
    "/subscriptions",
    response=SubscriptionsOut,
    operation_id="list_push_subscriptions",
    summary="List the browsers that receive notifications, newest first",
)
def list_push_subscriptions(request: SignedInRequest) -> dict[str, Any]:
    return {"items": list(Subscription.objects.owned_by(request.user)), "next": None}


@router.post(
    "/subscriptions",
    response={201: SubscriptionOut},
    operation_id="subscribe_to_push",
    summary="Subscribe a browser to notifications; repeating the request has no further effect",
)
def subscribe_to_push(request: SignedInRequest, body: SubscriptionIn) -> Status[Subscription]:
    return Status(201, subscribe(request.user, body.address, body.browser, timezone.now()))


@router.delete(
    "/subscriptions/{uuid:subscription_id}",
    response={204: None},
    operation_id="unsubscribe_from_push",
    summary="Stop notifying a browser",
)
def unsubscribe_from_push(request: SignedInRequest, subscription_id: UUID) -> Status[None]:
    get_object_or_404(Subscription.objects.owned_by(request.user), pk=subscription_id).delete()
    return Status(204, None)

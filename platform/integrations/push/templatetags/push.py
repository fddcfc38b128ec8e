from typing import Any

from django import template
from django.template.context import RequestContext

from integrations.push.models import Subscription
from integrations.push.subscriptions import get_public_key

register = template.Library()


@register.inclusion_tag("push/_this_device.html")
def this_device() -> dict[str, Any]:
    """Show the button that subscribes this browser, or what prevents that."""
    return {"key": get_public_key()}


@register.inclusion_tag("push/_devices.html", takes_context=True)
def devices(context: RequestContext) -> dict[str, Any]:
    """Show the signed-in user's subscribed browsers, each with a button to remove it."""
    mine = Subscription.objects.owned_by(context["user"])
    return {"devices": mine, "csrf_token": context["csrf_token"]}


@register.inclusion_tag("push/_offer.html")
def push_offer(name: str) -> dict[str, Any]:
    """Render the offer of notifications in the talk with the named companion, which shows only after a long wait."""
    return {"key": get_public_key(), "name": name}

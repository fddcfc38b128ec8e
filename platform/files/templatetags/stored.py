from typing import Any

from django import template
from django.conf import settings
from django.template.context import RequestContext

from files.contents import used_bytes

register = template.Library()


@register.inclusion_tag("files/_stored.html", takes_context=True)
def stored(context: RequestContext) -> dict[str, Any]:
    """Show how much storage the signed-in user's files take, and the quota."""
    used = used_bytes(context["user"])
    most = settings.FILES_BYTES_EACH
    return {"used": used, "most": most, "used_mb": used / 1_000_000, "most_mb": most // 1_000_000}

from uuid import UUID

from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone
from ninja import Router

from companions.api.finding import my_companion
from companions.models import Companion
from companions.moving.exporting import export

router = Router(tags=["moving"])


@router.get(
    "/{uuid:companion_id}/export",
    operation_id="export_companion",
    summary="Everything of it, as a JSON file",
    openapi_extra={"responses": {200: {"content": {"application/json": {"schema": {"type": "object"}}}}}},
)
def export_companion(request: HttpRequest, companion_id: UUID) -> StreamingHttpResponse:
    return exported(my_companion(request, companion_id))


def exported(companion: Companion) -> StreamingHttpResponse:
    """The companion as a file to be kept."""
    now = timezone.now()
    response = StreamingHttpResponse(export(companion, now), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="kith-{companion.pk}-{now:%Y-%m-%d}.json"'
    response["Cache-Control"] = "private, no-store"
    return response

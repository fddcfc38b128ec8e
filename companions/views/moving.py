"""Everything of a companion as a file."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import StreamingHttpResponse
from django.views.decorators.http import require_safe

from accounts.signed_in import SignedInRequest
from companions.api.moving import exported
from companions.views.finding import my_companion


@require_safe
@login_required
def export(request: SignedInRequest, companion_id: UUID) -> StreamingHttpResponse:
    return exported(my_companion(request, companion_id))

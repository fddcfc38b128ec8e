from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from accounts.authentication import SignedInRequest
from files.models import StoredFile
from files.responses import serve_on_page


@require_safe
@login_required
def give(request: SignedInRequest, file_id: UUID) -> HttpResponseBase:
    """Serve a file of the signed-in user; another user's is a 404."""
    return serve_on_page(request, get_object_or_404(StoredFile.objects.owned_by(request.user), pk=file_id))

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from accounts.authentication import SignedInRequest
from files.errors import FilesError
from files.models import StoredFile
from files.responses import serve


@require_safe
@login_required
def give(request: SignedInRequest, file_id: UUID) -> HttpResponseBase:
    """Serve a file of the signed-in user; another user's is a 404."""
    file = get_object_or_404(StoredFile.objects.owned_by(request.user), pk=file_id)
    try:
        return serve(request, file)
    except FilesError as error:
        return JsonResponse({"code": error.code, "detail": str(error.detail)}, status=error.status)

"""The page of the devices that a person is signed in on, from which each can be signed out."""

from typing import Any

from allauth.usersessions.models import UserSession
from allauth.usersessions.views import ListUserSessionsView
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from accounts.authentication import SignedInRequest
from accounts.models.user import signed_out_elsewhere

SYSTEMS = ("Android", "iPhone", "iPad", "Mac", "Windows", "Linux")
BROWSERS = {  # by a part of the User-Agent; the first match counts, as many browsers name others too
    "Edg/": "Edge",
    "OPR/": "Opera",
    "Firefox/": "Firefox",
    "FxiOS/": "Firefox",
    "Chrome/": "Chrome",
    "Safari/": "Safari",
}


def name_browser(user_agent: str) -> str:
    """Return the names of browser and system, e.g. "Firefox · Linux", as far as the User-Agent header tells them."""
    browser = next((name for part, name in BROWSERS.items() if part in user_agent), "")
    system = next((name for name in SYSTEMS if name in user_agent), "")
    return " · ".join(filter(None, (browser, system)))


@method_decorator(never_cache, name="dispatch")
class DevicesView(ListUserSessionsView):  # type: ignore[misc]
    """allauth's list of sessions. The current one is listed even if it began before sessions were recorded."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        UserSession.objects.create_from_request(self.request)
        context: dict[str, Any] = super().get_context_data(**kwargs)
        for session in context["sessions"]:
            session.browser = name_browser(session.user_agent)
        return context

    def form_valid(self, form: Form) -> HttpResponse:
        """Sign all other devices out."""
        response: HttpResponse = super().form_valid(form)
        signed_out_elsewhere.send(type(self), user=self.request.user)
        return response


@require_POST
@login_required
def sign_out_device(request: SignedInRequest, pk: int) -> HttpResponse:
    session = get_object_or_404(UserSession.objects.filter(user=request.user), pk=pk)
    if session.is_current():
        return redirect("account_logout")
    session.end()
    signed_out_elsewhere.send(UserSession, user=request.user)
    messages.success(request, _("That device has been signed out."))
    return redirect("usersessions_list")

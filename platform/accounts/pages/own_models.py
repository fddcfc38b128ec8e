"""The page "Your own models": a person's own chat providers. Of an API key only its last characters are ever shown."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.authentication import SignedInRequest
from accounts.limits.rates import admit_to
from accounts.models import User
from jobs.background import release_connections
from providers.chat_provider import build_own_provider
from providers.discovery.listing import ListingError, read_server
from providers.discovery.models import Server
from providers.discovery.probe import try_provider
from providers.failures import Failure, classify
from providers.http.clients import run_in_background
from providers.http.guarded_http import OutboundError, require_public
from providers.models import OwnProvider, is_same_server, validate_key
from providers.selection import follow_own_change

UNPROCESSABLE = 422  # the status of a form with errors
MAX_SHOWN_CHARACTERS = 300
TRIAL_TIMEOUT_SECONDS = 20.0
ASKED_ANEW = {"base_url", "model", "api_key"}  # a change of one of these clears the last error


class OwnProviderForm(forms.ModelForm):  # type: ignore[type-arg]
    """A person's own provider. If the key is left empty, the stored one stays."""

    api_key = forms.CharField(
        label=_("Key"),
        required=False,
        max_length=500,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "off"}),
        validators=[validate_key],
    )

    class Meta:
        model = OwnProvider
        fields = ("name", "base_url", "api_key", "model", "context_tokens")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["api_key"].help_text = self.instance.describe_key(
            nothing=gettext("It is encrypted. Only its last four characters are ever shown again."),
            lost=gettext("It can no longer be read. Enter it again."),
        )
        self.fields["model"].widget.attrs["list"] = "listed-models"

    def clean_base_url(self) -> str:
        """Return the address without a trailing slash; refuse it unless its host resolves and is on the public Internet.

        Hosts that OWN_PROVIDERS_ALLOWED names may be elsewhere. One sentence for both, or anybody could ask which
        names Kith's own network knows.
        """
        address: str = self.cleaned_data["base_url"].rstrip("/")
        release_connections()  # the name server of a stranger's host may be slow
        try:
            require_public(address, allowed=settings.OWN_PROVIDERS_ALLOWED)
        except OutboundError as error:
            raise forms.ValidationError(Failure.FORBIDDEN.label) from error
        return address

    def clean(self) -> dict[str, Any]:
        """Refuse to keep the stored key if the address now leads to another server than the key was entered for."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        before, after = self.initial.get("base_url", ""), cleaned.get("base_url")
        is_kept = self.instance.sealed_key and not cleaned.get("api_key")
        if is_kept and after is not None and not is_same_server(before, after):
            self.add_error(
                "api_key", _("The address leads to a different server. Enter the key for that one.")
            )
        return cleaned

    def save_for(self, user: User) -> bool:
        """Save the provider as the user's; return False, with an error, if one has its model or there are too many."""
        row, key = self.instance, self.cleaned_data["api_key"]
        with transaction.atomic():
            User.objects.select_for_update().get(pk=user.pk)
            others = OwnProvider.objects.owned_by(user).exclude(pk=row.pk)
            if others.filter(model=row.model).exists():
                self.add_error("model", _("You already have this model. Change or delete that one."))
            elif row.pk is None and others.count() >= settings.OWN_PROVIDERS_EACH:
                self.add_error(
                    None, _("You have reached the limit for models of your own. Delete one first.")
                )
            else:
                row.user = user
                if key:
                    row.api_key = key
                if ASKED_ANEW & set(self.changed_data):
                    row.last_error, row.last_error_at = "", None
                row.save()
                follow_own_change(user.pk)
        return not self.errors


def has_own_models_page(user: User) -> bool:
    """Return whether the operator allows own models, or the person has some from when they did."""
    return bool(settings.OWN_PROVIDERS_EACH) or OwnProvider.objects.owned_by(user).exists()


def render_page(request: SignedInRequest, form: OwnProviderForm, status: int = 200) -> HttpResponse:
    """Return the page with the person's providers and a form, which edits one of them or adds a new one."""
    if not has_own_models_page(request.user):
        raise Http404
    rows = list(OwnProvider.objects.owned_by(request.user))
    context = {
        "rows": rows,
        "form": form,
        "edited": form.instance if form.instance.pk else None,
        "may_ask": bool(settings.OWN_PROVIDERS_EACH),
        "may_add": len(rows) < settings.OWN_PROVIDERS_EACH,
    }
    return render(request, "accounts/own_models.html", context, status=status)


@require_safe
@login_required
@never_cache
def show_own_models(request: SignedInRequest) -> HttpResponse:
    return render_page(request, OwnProviderForm())


@sensitive_post_parameters("api_key")
@require_POST
@login_required
@never_cache
def add_own_model(request: SignedInRequest) -> HttpResponse:
    return _save(request, OwnProviderForm(request.POST))


@sensitive_post_parameters("api_key")
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@never_cache
def edit_own_model(request: SignedInRequest, pk: int) -> HttpResponse:
    row = get_object_or_404(OwnProvider.objects.owned_by(request.user), pk=pk)
    if request.method == "POST":
        return _save(request, OwnProviderForm(request.POST, instance=row))
    return render_page(request, OwnProviderForm(instance=row))


def _save(request: SignedInRequest, form: OwnProviderForm) -> HttpResponse:
    if not has_own_models_page(request.user):
        raise Http404
    admit_to(request.user, "own_models", timezone.now())
    if not form.is_valid() or not form.save_for(request.user):
        return render_page(request, form, UNPROCESSABLE)
    messages.success(request, gettext("Saved. Try it, then choose it for a companion."))
    return redirect("own_models")


@require_POST
@login_required
def try_own_model(request: SignedInRequest, pk: int) -> HttpResponse:
    """Ask the provider for one sentence; show the person its answer or the error, and save or clear its last error."""
    row = get_object_or_404(OwnProvider.objects.owned_by(request.user), pk=pk)
    if not settings.OWN_PROVIDERS_EACH:
        raise Http404
    now = timezone.now()
    admit_to(request.user, "own_models", now)
    sentence, provider = gettext("Greet me in one short sentence."), build_own_provider(row)
    release_connections()
    trial = run_in_background(try_provider(provider, sentence, TRIAL_TIMEOUT_SECONDS))
    if trial.error:
        row.last_error, row.last_error_at = classify(trial.error), now
        messages.error(request, f"{row.name}: {row.get_last_error_display()}")
    else:
        row.last_error, row.last_error_at = "", None
        said = trial.text.strip()[:MAX_SHOWN_CHARACTERS]
        words = gettext("%(name)s: “%(text)s” The first words came after %(first).1f s.")
        messages.success(
            request, words % {"name": row.name, "text": said, "first": trial.first_piece_seconds}
        )
    row.save(update_fields=["last_error", "last_error_at"])
    return redirect("own_models")


@require_POST
@login_required
def delete_own_model(request: SignedInRequest, pk: int) -> HttpResponse:
    get_object_or_404(OwnProvider.objects.owned_by(request.user), pk=pk).delete()
    follow_own_change(request.user.pk)
    messages.success(request, gettext("Deleted, along with its key."))
    return redirect("own_models")


@sensitive_post_parameters("api_key")
@require_POST
@login_required
@never_cache
def list_models(request: SignedInRequest, pk: int | None = None) -> HttpResponse:
    """Return a fragment with the models that the submitted address offers, asked with the submitted or stored key."""
    row = get_object_or_404(OwnProvider.objects.owned_by(request.user), pk=pk) if pk else None
    if not settings.OWN_PROVIDERS_EACH:
        raise Http404
    admit_to(request.user, "own_models", timezone.now())
    form, context = OwnProviderForm(request.POST, instance=row), {}
    form.full_clean()
    if errors := [*form.errors.get("base_url", ()), *form.errors.get("api_key", ())]:
        context = {"trouble": errors[0]}
    else:
        key = form.cleaned_data["api_key"] or (build_own_provider(row).api_key if row else "")
        release_connections()
        try:
            server: Server = run_in_background(
                read_server(form.cleaned_data["base_url"], key, is_guarded=True)
            )
            context = {"trouble": server.trouble, "models": server.models}
        except ListingError as error:
            context = {"trouble": error.sentence}
    return render(request, "accounts/own_models_listed.html", context)

"""The operators' page "Which model?", which finds chat models, tries them, and puts one in force."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from config.admin.downloads import describe_downloads
from config.admin.embedder import describe_embedding
from config.admin.engines import FileForm, describe_engines, find_files, require_right, warn_unused
from jobs.background import release_connections
from providers.chat_provider import build_provider
from providers.discovery.hosted import find_hosted, load_hosted
from providers.discovery.listing import (
    ListingError,
    NothingThereError,
    SilentError,
    find_servers,
    read_server,
)
from providers.discovery.models import Server
from providers.discovery.probe import HELLO, Probe, probe_model, read_context
from providers.downloads.storage import open_folder
from providers.errors import ProviderError
from providers.failures import classify
from providers.http.clients import run_in_background
from providers.models import MIN_CONTEXT_TOKENS, Provider, validate_address, validate_key
from providers.selection import Capability, choose_chat, get_provider, is_set_by_environment
from safety.admin.providers import close_breaker
from safety.audit import get_operator, record
from safety.models import AuditEntry

MAX_IN_SELECT = 50  # if there are more models, their names are typed instead


class ChatModelForm(forms.Form):
    """A chat server (a known service or an address), its API key, and a model on it."""

    service = forms.ChoiceField(label=_("Service"), required=False)
    base_url = forms.CharField(
        label=_("Address"), max_length=200, required=False, validators=[validate_address]
    )
    api_key = forms.CharField(
        label=_("Key"),
        max_length=500,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        validators=[validate_key],
    )
    model = forms.CharField(
        label=_("Model"),
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs={"list": "listed-models", "autocomplete": "off"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        services = [(service.base_url, service.name) for service in load_hosted()]
        self.fields["service"].choices = [("", _("Another address")), *services]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Put the chosen service's address into `base_url`; refuse a service together with another address."""
        fields = self.cleaned_data
        service, address = fields.get("service", ""), fields.get("base_url", "").rstrip("/")
        fields["base_url"] = service or address
        if not fields["base_url"] and "base_url" not in self.errors:
            self.add_error("base_url", _("Choose a service, or enter an address."))
        elif service and address not in {"", service}:
            self.add_error("base_url", _("Choose a service or enter an address, not both."))
        return fields

    def require_model(self) -> bool:
        """Return whether the form is valid and names a model; add an error if the model alone is missing."""
        if self.is_valid() and not self.cleaned_data["model"]:
            self.add_error("model", _("Enter the model, or list the models first."))
        return self.is_valid()


@dataclass
class Outcome:
    """The result of a button: a server's models, a model's answer, or an error and the server's own words for it."""

    server: Server | None = None
    probe: Probe | None = None
    trouble: str = ""
    said: str = ""


@sensitive_post_parameters("api_key")
def show_models(request: HttpRequest) -> HttpResponse:
    """Show the page; a POST first does what its `deed` names: list, try or use."""
    require_right(request)
    form, outcome = ChatModelForm(request.POST or None), None
    release_connections()  # servers may take minutes to answer
    match request.POST.get("deed"):
        case "list" if form.is_valid():
            outcome = _list(form.cleaned_data)
        case "try" if form.require_model():
            fields = form.cleaned_data
            outcome = _try(fields["base_url"], fields["api_key"], fields["model"])
        case "use" if form.require_model() and _use(request, form):
            return redirect("admin:mind")
    context = {"form": form, "outcome": outcome, "context_tokens": settings.CONTEXT_TOKENS}
    if request.headers.get("HX-Request"):
        return TemplateResponse(request, "admin/mind_outcome.html", context)
    provider, background = get_provider(), get_provider(Capability.BACKGROUND)
    context |= {
        **admin.site.each_context(request),
        "title": _("Which model?"),
        "provider": provider,
        "background": None if background == provider else background,
        "is_set_by_environment": is_set_by_environment(),
        "servers": run_in_background(find_servers(settings.PORT)),
        "max_in_select": MAX_IN_SELECT,
        "files": find_files(request.GET.get("path", "")),
        "file_form": FileForm(request.GET or None),
        "models_folder": open_folder(),
        **describe_engines(),
        **describe_downloads(),
        **describe_embedding(),
    }
    return TemplateResponse(request, "admin/mind.html", context)


@require_POST
def try_engine(request: HttpRequest, id: int) -> HttpResponse:
    """Try the model of one of Kith's own engines; return the fragment with the result."""
    require_right(request)
    provider = build_provider(
        get_object_or_404(
            Provider.objects.exclude(engine_file="").exclude(capability=Capability.EMBEDDING), pk=id
        )
    )
    release_connections()
    outcome = _try(provider.base_url, provider.api_key, provider.model)
    context = {"outcome": outcome, "context_tokens": settings.CONTEXT_TOKENS}
    return TemplateResponse(request, "admin/mind_outcome.html", context)


def _list(fields: dict[str, Any]) -> Outcome:
    service = find_hosted(fields["base_url"])
    if service and not service.lists_models:
        return Outcome(trouble=str(_("This service does not list its models. Its website names them.")))
    try:
        return Outcome(run_in_background(read_server(fields["base_url"], fields["api_key"])))
    except ListingError as error:
        return Outcome(trouble=str(error.sentence))


def _try(base_url: str, key: str, model: str) -> Outcome:
    probing = probe_model(base_url, key, model, str(HELLO))
    try:
        return Outcome(probe=run_in_background(probing))
    except ProviderError as error:
        return Outcome(trouble=str(classify(error).label), said=error.said)


def _use(request: HttpRequest, form: ChatModelForm) -> bool:
    """Put the model in force; return False, with an error in the form, if a value is invalid."""
    fields = form.cleaned_data
    base_url, key, model = fields["base_url"], fields["api_key"], fields["model"]
    service = find_hosted(base_url)
    context = run_in_background(read_context(base_url, key, model))
    is_smaller = MIN_CONTEXT_TOKENS <= context < settings.CONTEXT_TOKENS
    name = f"{service.name}: {model}" if service else model
    try:
        with transaction.atomic():
            row = choose_chat(
                name[:80], base_url, model, api_key=key, context_tokens=context if is_smaller else None
            )
            record(get_operator(request), AuditEntry.Deed.CHANGED, Provider, row.pk)
        close_breaker(build_provider(row))
    except ValidationError as error:
        form.add_error(None, error.messages)
        return False
    if is_set_by_environment():
        warn_unused(request, model)
    elif trouble := _find_trouble(base_url, key):
        text = _("%(model)s is in use from now on, but may not answer: %(trouble)s")
        messages.warning(request, text % {"model": model, "trouble": trouble})
    else:
        messages.success(request, _("%(model)s answers from now on.") % {"model": model})
    return True


def _find_trouble(base_url: str, key: str) -> str:
    """Return why the server cannot be used now, e.g. that it refuses the key, as far as its list of models tells."""
    try:
        run_in_background(read_server(base_url, key))
    except ListingError as error:
        is_grave = error.status in {401, 403} or isinstance(error, (NothingThereError, SilentError))
        return str(error.sentence) if is_grave else ""
    return ""

"""Downloads of models on the operators' page "Which model?": catalogue, own address, and the state of each download."""

from typing import Any

import psutil
from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from providers.downloads.catalogue import find_model, sort_by_fit
from providers.downloads.models import Download
from providers.downloads.operations import (
    DownloadError,
    accept_change,
    pause_download,
    remove_download,
    resume_download,
    start_download,
)
from safety.audit import get_operator, record
from safety.models import AuditEntry

Deed = AuditEntry.Deed


class AddressForm(forms.Form):
    """A model file at an address of the operator's choice."""

    url = forms.CharField(
        label=_("Address of a GGUF file"),
        max_length=1000,
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": "https://…/model.gguf"}),
    )
    sha256 = forms.CharField(
        label=_("Its SHA-256, if you know it"),
        max_length=64,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


def describe_downloads() -> dict[str, Any]:
    """Return the context of the section "Download a model". A catalogue model that is downloaded is listed once."""
    rows, memory_bytes = list(Download.objects.all()), psutil.virtual_memory().total
    known = {row.url for row in rows}
    return {
        "address_form": AddressForm(),
        "downloads": [(row, find_model(row.url)) for row in rows],
        "is_fetching": any(row.state == Download.State.ACTIVE for row in rows),
        "memory_bytes": memory_bytes,
        "catalogue": [
            (model, model.fits(memory_bytes)) for model in sort_by_fit(memory_bytes) if model.url not in known
        ],
        "download_bytes": settings.DOWNLOAD_BYTES,
    }


def show_downloads(request: HttpRequest) -> HttpResponse:
    """Show the list of downloads; a POST first does what its `deed` names: fetch, pause, resume, accept or remove."""
    if not request.user.has_perm("providers.change_provider"):
        raise PermissionDenied
    trouble = ""
    if request.method == "POST":
        try:
            _do(request)
        except DownloadError as error:
            trouble = str(error)
        if not request.headers.get("HX-Request"):
            if trouble:
                messages.error(request, trouble)
            return redirect(f"{reverse('admin:mind')}#fetch")
    context = describe_downloads() | {"download_trouble": trouble}
    return TemplateResponse(request, "admin/mind_download_list.html", context)


def _do(request: HttpRequest) -> None:
    """Carry out the submitted `deed` and record it in the audit; raise DownloadError if that is impossible."""
    deed, now = request.POST.get("deed"), timezone.now()
    if deed == "fetch":
        form = AddressForm(request.POST)
        if not form.is_valid():
            raise DownloadError(" ".join(str(error) for errors in form.errors.values() for error in errors))
        fields = form.cleaned_data
        model = find_model(fields["url"])
        name, sha256 = (model.name, model.sha256) if model else ("", fields["sha256"])
        started = start_download(fields["url"], now, name=name, sha256=sha256)
        record(get_operator(request), Deed.CHANGED, Download, started.pk)
        return
    number = request.POST.get("download", "")
    row = Download.objects.filter(pk=number).first() if number.isdecimal() else None
    if row is None:
        return  # removed meanwhile: the list shows that
    match deed:
        case "pause":
            pause_download(row.pk)
        case "resume":
            resume_download(row.pk, now)
        case "accept":
            accept_change(row.pk, now)
        case "remove":
            remove_download(row.pk)
        case _:
            raise Http404
    record(get_operator(request), Deed.DELETED if deed == "remove" else Deed.CHANGED, Download, row.pk)

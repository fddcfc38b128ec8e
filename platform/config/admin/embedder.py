"""The choice of the embedder on the operators' page "Which model?": a model file, or the built-in model."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from config.admin.engines import (
    read_form,
    read_model,
    require_right,
    resolve,
    stop,
    telling_faults,
    warn_unused,
)
from providers.embedding.selection import get_embedder, is_embedding_set_by_environment
from providers.engine.gguf import ModelFile
from providers.engine.plan import measure_room, plan_embedder
from providers.models import Provider
from providers.selection import Capability, choose_embedder_file
from safety.audit import get_operator, record
from safety.models import AuditEntry


def describe_embedding() -> dict[str, Any]:
    """Return the page's context about the embedder in force."""
    return {
        "embedder": get_embedder(),
        "is_embedding_set_by_environment": is_embedding_set_by_environment(),
        "has_embedding_providers": _find_active().exists(),
    }


@require_POST
def use_for_memory(request: HttpRequest) -> HttpResponse:
    """Put a model file in force as the embedder, to be run by Kith's own engine."""
    if form := read_form(request):
        with telling_faults(request):
            model = read_model(resolve(form.cleaned_data["path"]))
            plan_embedder(model, measure_room())
            _put_in_force(request, model)
    return redirect("admin:mind")


def _put_in_force(request: HttpRequest, model: ModelFile) -> None:
    name = model.path.stem[:200]
    with transaction.atomic():
        row = choose_embedder_file(model.name[:80], name, str(model.path))
        record(get_operator(request), AuditEntry.Deed.CHANGED, Provider, row.pk)
    if is_embedding_set_by_environment():
        warn_unused(request, name)
        return
    messages.success(
        request,
        _(
            "%(model)s will compare meanings as soon as it is loaded. It embeds all memories again in the background;"
            " until that is done, recall goes on with the old vectors."
        )
        % {"model": name},
    )


@require_POST
def use_built_in(request: HttpRequest) -> HttpResponse:
    """Deactivate all embedding providers, so that the built-in model embeds again."""
    require_right(request)
    with transaction.atomic():
        for row in _find_active():
            stop(get_operator(request), row)
    messages.success(
        request,
        _(
            "The built-in model compares meanings again. It embeds what it has not embedded yet in the background; until"
            " then, that is recalled by its words."
        ),
    )
    return redirect("admin:mind")


def _find_active() -> Any:
    return Provider.objects.filter(capability=Capability.EMBEDDING, is_active=True)

"""Operators' page of providers: which exist, which is in force, and whether one answers. Only a key's end is shown."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldBooleanWidget

from accounts.admin import DeletesEach, PlainLookups
from jobs.background import release_connections
from providers.availability import note_answer
from providers.chat_provider import ChatProvider, build_provider
from providers.discovery.probe import Trial, try_provider
from providers.embedding.fallback import EmbeddingTrial, try_embedding
from providers.embedding.selection import is_embedding_set_by_environment
from providers.errors import ProviderError
from providers.failures import classify, note_failure
from providers.http.clients import run_in_background
from providers.models import Provider, is_same_server, validate_key
from providers.selection import (
    Capability,
    follow_change,
    get_environment_provider,
    get_sound_settings,
    is_set_by_environment,
    is_sound_set_by_environment,
    read_active,
)
from safety.admin.columns import moment
from safety.audit import get_operator, record
from safety.models import AuditEntry
from safety.provider_usage import load_last_day, load_last_month

SOUND = (Capability.SPEECH, Capability.TRANSCRIPTION)
SOUND_IGNORES = {
    *("context_tokens", "slots", "threads", "requests_per_minute", "tokens_per_day"),
    *("prompt_price", "completion_price"),
}
EMBEDDING_IGNORES = {"slots", "requests_per_minute", "tokens_per_day", "completion_price"}
PREFIXES = ("query_prefix", "document_prefix")  # for embedding only
MAX_TRIALS, MAX_SHOWN_CHARACTERS = 5, 300
# A change of these makes the last error obsolete.
ASKED_ANEW = {"base_url", "model", "api_key", "removes_key"}


class ProviderForm(forms.ModelForm):  # type: ignore[type-arg]
    """The form for a provider. Of its key only the last characters are shown: an empty field leaves it unchanged."""

    api_key = forms.CharField(
        label=_("Key"),
        required=False,
        max_length=500,
        widget=UnfoldAdminPasswordWidget(render_value=False),
        validators=[validate_key],
    )
    removes_key = forms.BooleanField(label=_("Remove the key"), required=False, widget=UnfoldBooleanWidget)

    class Meta:
        model = Provider
        fields = (
            *("name", "capability", "base_url", "model", "order", "is_active"),
            *("context_tokens", *PREFIXES, "slots", "threads"),
            *("requests_per_minute", "tokens_per_day", "prompt_price", "completion_price"),
        )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "api_key" in self.fields:  # with the right to view only, there are no fields
            self.fields["api_key"].help_text = self.instance.describe_key(
                nothing=gettext("No key is set."),
                lost=gettext(
                    "It was encrypted with a different KITH_ENCRYPTION_KEY and cannot be read: enter it again."
                ),
            )
        for name in self.fields.keys() & PREFIXES:
            cast(forms.CharField, self.fields[name]).strip = False  # models need the trailing space

    def clean(self) -> dict[str, Any]:
        """Refuse to send a saved key to another server than the one that it was entered for.

        Also refuse fields that a provider of that capability would ignore.
        """
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        given = {name for name, value in cleaned.items() if value not in {None, ""}}
        capability = cleaned.get("capability")
        if capability != Capability.EMBEDDING:
            for field in given.intersection(PREFIXES):
                self.add_error(field, _("This is only for embedding. Leave it empty."))
        ignores = EMBEDDING_IGNORES if capability == Capability.EMBEDDING else SOUND_IGNORES
        if capability in {*SOUND, Capability.EMBEDDING}:
            for field in given & ignores:
                self.add_error(field, _("This is only for chat models. Leave it empty."))
        before, after = self.initial.get("base_url", ""), cleaned.get("base_url")
        is_kept = self.instance.sealed_key and not cleaned.get("api_key") and not cleaned.get("removes_key")
        if is_kept and after is not None and not is_same_server(before, after):
            self.add_error(
                "api_key", _("The address leads to another server: enter the key again, or remove it.")
            )
        return cleaned


@admin.register(Provider)
class ProviderAdmin(DeletesEach, PlainLookups, ModelAdmin):  # type: ignore[misc]
    """The admin of providers; changes are recorded, and take effect in every process."""

    form = ProviderForm
    list_display: Any = (
        *("name", "capability", "model", "base_url", "order", "is_active", "last_error"),
        moment("last_error_at", _("last failure")),
    )
    list_filter = ("capability", "is_active")
    fieldsets = (
        (
            None,
            {"fields": ("name", "capability", "base_url", "engine_file", "model", "api_key", "removes_key")},
        ),
        (_("When it is used"), {"fields": ("order", "is_active")}),
        (_("What it can do"), {"fields": ("context_tokens", *PREFIXES, "slots", "threads")}),
        (_("Limits"), {"fields": ("requests_per_minute", "tokens_per_day")}),
        (_("Prices"), {"fields": ("prompt_price", "completion_price")}),
        (_("last error"), {"fields": ("last_error", "last_error_at")}),
    )
    readonly_fields = ("engine_file", "last_error", "last_error_at")
    change_form_outer_after_template = "admin/providers/last_day.html"
    list_before_template = "admin/providers/in_force.html"
    list_after_template = "admin/providers/last_month.html"
    actions = ("try_selected",)
    show_full_result_count = False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        context = {
            "is_set_by_environment": is_set_by_environment(),
            "from_environment": get_environment_provider(),
            "sound": [
                (capability.label, get_sound_settings(capability)["base_url"] or settings.SPEECH["engine"])
                for capability in SOUND
                if is_sound_set_by_environment(capability)
            ],
            "embedding": settings.EMBEDDING if is_embedding_set_by_environment() else None,
            "last_month": load_last_month(timezone.now()),
            "active": next(iter(read_active().get(Capability.CHAT, ())), None),
        }
        response: HttpResponse = super().changelist_view(request, context | (extra_context or {}))
        return response

    @method_decorator(sensitive_post_parameters("api_key"))
    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().changeform_view(request, *args, **kwargs)
        return response

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        if row := context.get("original"):
            context["last_day"] = load_last_day(row, timezone.now())
        response: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return response

    def get_fieldsets(self, request: HttpRequest, obj: Provider | None = None) -> Any:
        """Hide the fields of the key from operators who may not change the provider."""
        fieldsets = super().get_fieldsets(request, obj)
        if self.has_change_permission(request, obj):
            return fieldsets
        (name, shown), *others = fieldsets
        fields = [field for field in shown["fields"] if field not in {"api_key", "removes_key"}]
        return [(name, {**shown, "fields": fields}), *others]

    @transaction.atomic
    def save_model(self, request: HttpRequest, obj: Provider, form: Any, change: bool) -> None:
        if form.cleaned_data["api_key"] or form.cleaned_data["removes_key"]:
            obj.api_key = form.cleaned_data["api_key"]
        if ASKED_ANEW & set(form.changed_data):
            obj.last_error, obj.last_error_at = "", None
        super().save_model(request, obj, form, change)
        record(get_operator(request), AuditEntry.Deed.CHANGED, Provider, obj.pk)
        transaction.on_commit(partial(close_breaker, build_provider(obj)))
        follow_change()

    @transaction.atomic
    def delete_model(self, request: HttpRequest, obj: Provider) -> None:
        record(get_operator(request), AuditEntry.Deed.DELETED, Provider, obj.pk)
        super().delete_model(request, obj)
        follow_change()

    @admin.action(description=_("Try: ask for one sentence, or embed one"), permissions=["change"])
    def try_selected(self, request: HttpRequest, rows: QuerySet[Provider]) -> None:
        """Ask the selected providers for a sentence, or to embed one, all at once, and show the results as messages.

        Only the first MAX_TRIALS are asked, and none of speech or transcription.
        """
        for row in rows.filter(capability__in=SOUND):
            messages.info(
                request, _("%(name)s: try it on the page “Speaking and hearing”.") % {"name": row.name}
            )
        chosen = list(rows.exclude(capability__in=SOUND)[:MAX_TRIALS])
        release_connections()
        sentence = gettext("Greet me in one short sentence.")
        trials = run_in_background(_try_all(chosen, sentence))
        for row, trial in zip(chosen, trials, strict=True):
            if trial.error:
                note_failure(row.base_url, row.model, trial.error, timezone.now(), None)
                messages.error(request, _describe_failed(row, trial.error))
            else:
                Provider.objects.filter(pk=row.pk).update(last_error="", last_error_at=None)
                close_breaker(build_provider(row))
                messages.success(request, _describe_answered(row, trial))


def close_breaker(provider: ChatProvider) -> None:
    """Close the provider's circuit breaker, so that it is asked again at once."""
    run_in_background(note_answer(provider))


async def _try_all(rows: Sequence[Provider], sentence: str) -> list[Trial | EmbeddingTrial]:
    return await asyncio.gather(*(_try(row.capability, build_provider(row), sentence) for row in rows))


async def _try(capability: str, provider: ChatProvider, sentence: str) -> Trial | EmbeddingTrial:
    if capability == Capability.EMBEDDING:
        return await asyncio.to_thread(try_embedding, provider, sentence)
    return await try_provider(provider, sentence)


def _describe_answered(row: Provider, trial: Trial | EmbeddingTrial) -> str:
    if isinstance(trial, EmbeddingTrial):
        values = {"name": row.name, "width": trial.width, "milliseconds": trial.milliseconds}
        return gettext("%(name)s: %(width)d numbers for a sentence, after %(milliseconds)d ms.") % values
    return gettext(
        "%(name)s: “%(text)s” The first piece came after %(first).1f s, the last after %(last).1f s."
    ) % {
        "name": row.name,
        "text": trial.text.strip()[:MAX_SHOWN_CHARACTERS],
        "first": trial.first_piece_seconds,
        "last": trial.seconds,
    }


def _describe_failed(row: Provider, error: ProviderError) -> str:
    return gettext("%(name)s: %(failure)s In its own words: %(words)s") % {
        "name": row.name,
        "failure": classify(error).label,
        "words": error.said[:MAX_SHOWN_CHARACTERS],
    }

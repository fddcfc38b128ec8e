"""The page of a companion's mind: its models, its preset, its own sampling values, and its daily use of tokens."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from accounts.authentication import SignedInRequest
from accounts.errors import RefusedError
from companions.access import get_companion
from companions.errors import MindError
from companions.minds.choice import compute_sampling, get_mind
from companions.minds.editing import change_mind, list_providers
from companions.minds.preset_files import MAX_BYTES, ReadPreset, read_preset
from companions.minds.presets import load_presets
from companions.minds.sampling import MAX_STOP_CHARACTERS, PARAMETERS, STOP, check_context, check_sampling
from companions.minds.usage import SHOWN_DAYS, measure_daily_use
from companions.models import Companion, Mind
from companions.pages.context import show_size_warning
from companions.pages.shortcuts import UNPROCESSABLE, form_view, post_view
from files.uploads import read_upload
from providers.chat.sampling import MAX_OWN_STOPS
from providers.models import MIN_CONTEXT_TOKENS
from providers.selection import Capability

STOPS = [f"stop_{number}" for number in range(1, MAX_OWN_STOPS + 1)]


class ModelsForm(forms.Form):
    """A companion's models, chosen from those that are available, and the present one even if it is not."""

    model = forms.ChoiceField(label=gettext_lazy("Model for the talk"), required=False)
    allows_stand_in = forms.BooleanField(
        label=gettext_lazy("Another model may stand in while its own is away"),
        required=False,
        help_text=gettext_lazy("The answer will say so. Without this, the talk waits."),
    )
    background_model = forms.ChoiceField(
        label=gettext_lazy("Model for background work"),
        required=False,
        help_text=gettext_lazy("Learning from the talk, writing the diary, the work at night."),
    )

    def __init__(self, mind: Mind, data: Any = None) -> None:
        names = ("model", "background_model", "allows_stand_in")
        super().__init__(data, initial={name: getattr(mind, name) for name in names})
        self.mind = mind
        self._offer("model", Capability.CHAT, gettext_lazy("The first one that answers, from then on"))
        self._offer("background_model", Capability.BACKGROUND, gettext_lazy("The default of this Kith"))
        self.fields["model"].required = bool(mind.model)

    def _offer(self, name: str, capability: Capability, nothing: Any) -> None:
        chosen = getattr(self.mind, name)
        found = list_providers(self.mind.companion.user_id, capability)
        is_settled = name == "model" and chosen  # it may be changed, but not left open again
        offered: list[tuple[str, Any]] = [] if is_settled else [("", nothing)]
        for model, provider in found.items():
            offered.append(
                (model, _("%(model)s (your own)") % {"model": model} if provider.is_own else model)
            )
        if chosen and chosen not in found:
            offered.append((chosen, _("%(model)s (away right now)") % {"model": chosen}))
        self.fields[name].choices = offered  # type: ignore[attr-defined]


class ValuesForm(forms.Form):
    """A companion's own sampling values, which override the preset's. An empty one leaves it to the preset or the
    installation.
    """

    context_tokens = forms.IntegerField(
        label=gettext_lazy("How much it reads at once"),
        required=False,
        help_text=gettext_lazy(
            "In word pieces. Less costs less, but the talk is summed up sooner. If this is empty, as much as the"
            " model can read."
        ),
    )

    def __init__(self, mind: Mind, data: Any = None, read: ReadPreset | None = None) -> None:
        values = {**mind.sampling, **(read.sampling if read else {})}
        context = (read and read.context_tokens) or mind.context_tokens
        stops = [stop.replace("\n", "\\n") for stop in values.get(STOP, ())]
        super().__init__(
            data, initial={**values, **dict(zip(STOPS, stops, strict=False)), "context_tokens": context}
        )
        usual = {**settings.SAMPLING, **compute_sampling(Mind(preset=mind.preset))}
        usual["max_tokens"] = settings.ANSWER_TOKENS
        fields: dict[str, forms.Field] = {}
        for parameter in PARAMETERS.values():
            kind: Any = forms.IntegerField if parameter.is_whole else forms.FloatField
            bounds = {"min": parameter.least, "max": parameter.most, "step": parameter.step}
            shown = usual.get(parameter.name)
            widget = forms.NumberInput(attrs={**bounds, "placeholder": "" if shown is None else f"{shown:g}"})
            fields[parameter.name] = kind(
                label=parameter.label, help_text=parameter.hint, required=False, widget=widget
            )
        for number, name in enumerate(STOPS, start=1):
            fields[name] = forms.CharField(
                label=_("Ends an answer (%(number)s)") % {"number": number},
                required=False,
                strip=False,
                max_length=MAX_STOP_CHARACTERS,
                help_text=gettext_lazy("It stops before it would write this. \\n is a new line."),
            )
        self.fields = {**fields, **self.fields}

    def clean(self) -> dict[str, Any]:
        """Return `sampling` and `context_tokens`, as `change_mind` takes them."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        stops = [cleaned[name].replace("\\n", "\n") for name in STOPS if cleaned.get(name)]
        context = cleaned.get("context_tokens")
        try:
            sampling = check_sampling({**{name: cleaned.get(name) for name in PARAMETERS}, STOP: stops})
            if context is not None:
                check_context(context)
        except MindError as error:
            self.add_error(STOPS[0] if error.field == STOP else error.field, str(error.detail))
            return cleaned
        return {"sampling": sampling, "context_tokens": context}


@form_view
def mind(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show the companion's models, preset and values; on POST, save the models."""
    companion = get_companion(request.user, companion_id)
    if request.method != "POST":
        return _page(request, companion)
    form = ModelsForm(get_mind(companion), request.POST)
    if not form.is_valid():
        return _page(request, companion, models_form=form, status=UNPROCESSABLE)
    return _keep(request, companion, form.cleaned_data)


@post_view
def choose_preset(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Save the chosen preset, and clear the companion's own values, which would override it."""
    companion = get_companion(request.user, companion_id)
    return _keep(request, companion, {"preset": request.POST.get("preset", ""), "sampling": {}})


@post_view
def keep_values(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion = get_companion(request.user, companion_id)
    form = ValuesForm(get_mind(companion), request.POST)
    if not form.is_valid():
        return _page(request, companion, values_form=form, status=UNPROCESSABLE)
    return _keep(request, companion, form.cleaned_data)


@post_view
def read_file(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show what an uploaded preset file would change, in the form that can save it."""
    companion = get_companion(request.user, companion_id)
    try:
        read = read_preset(read_upload(request, MAX_BYTES))
    except RefusedError as error:
        return _page(request, companion, file_error=str(error.detail), status=error.status)
    return _page(request, companion, values_form=ValuesForm(get_mind(companion), read=read), read=read)


def _keep(request: SignedInRequest, companion: Companion, changes: Mapping[str, Any]) -> HttpResponse:
    try:
        change_mind(companion, changes)
    except MindError as error:  # what was chosen became unavailable since the page was shown
        messages.error(request, str(error.detail))
    else:
        messages.success(request, _("Saved."))
        show_size_warning(request, companion)
    return redirect("mind", companion.pk)


def _page(
    request: SignedInRequest,
    companion: Companion,
    models_form: ModelsForm | None = None,
    values_form: ValuesForm | None = None,
    read: ReadPreset | None = None,
    file_error: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render the page, with a form that has errors in its place, and with what a preset file would change."""
    mind, providers = get_mind(companion), list_providers(companion.user_id, Capability.CHAT)
    first = next((provider for provider in providers.values() if not provider.is_own), None)
    context = {
        "companion": companion,
        "mind": mind,
        "speaking": providers.get(mind.model) if mind.model else first,
        "has_choice": bool(providers or mind.model),
        "models_form": models_form or ModelsForm(mind),
        "values_form": values_form or ValuesForm(mind),
        "presets": load_presets(get_language() or "en").values(),
        "read": read,
        "changes": _compare(mind, read) if read else [],
        "file_error": file_error,
        "use": measure_daily_use(companion, timezone.now()),
        "days": SHOWN_DAYS,
        "least_context": MIN_CONTEXT_TOKENS,
    }
    return render(request, "minds/mind.html", context, status=status)


def _compare(mind: Mind, read: ReadPreset) -> list[tuple[Any, Any, Any]]:
    """Return what the preset file would change, as label, present value and new value."""
    usual = {**settings.SAMPLING, "max_tokens": settings.ANSWER_TOKENS, **compute_sampling(mind)}
    rows: list[tuple[Any, Any, Any]] = [
        (PARAMETERS[name].label if name in PARAMETERS else _("Ends an answer"), usual.get(name), value)
        for name, value in read.sampling.items()
    ]
    rows.append((ValuesForm.base_fields["context_tokens"].label, mind.context_tokens, read.context_tokens))
    return [row for row in rows if row[2] is not None and row[1] != row[2]]

"""The pages that make a new companion: one of Kith's characters, or one of the person's own."""

import hashlib
import random
from typing import Any
from uuid import UUID, uuid4

from django import forms
from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from accounts.authentication import SignedInRequest
from accounts.errors import IdempotencyConflictError, IdempotencyKeyError
from accounts.idempotency import create_once
from accounts.limits.rates import admit_to
from companions import creation
from companions.characters import find_character, load_characters
from companions.errors import LimitError
from companions.pages.character_forms import CompanionForm
from companions.pages.context import show_size_warning
from companions.pages.shortcuts import UNPROCESSABLE, form_view

CHANCE = random.SystemRandom()
FACES = (104, 106, 107, 111, 114, 101, 115, 113, 105, 110, 102, 109)  # seeds of portraits to choose from
PACES = ((0.9, gettext_lazy("unhurried")), (1.0, gettext_lazy("even")), (1.1, gettext_lazy("lively")))


def _question(label: Any, example: Any) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": 2, "placeholder": example})
    return forms.CharField(label=label, required=False, max_length=500, widget=widget)


class OwnCompanionForm(CompanionForm):
    """A companion of the person's own: the answers to three questions go before the text in `persona`."""

    role = _question(
        gettext_lazy("Who are they to you?"), gettext_lazy("A neighbour who has seen a few winters")
    )
    manner = _question(
        gettext_lazy("How do they talk?"),
        gettext_lazy("Short and dry, with a laugh behind it; asks before giving advice"),
    )
    interests = _question(
        gettext_lazy("What do they care about?"), gettext_lazy("Tomatoes, old radios, how my week went")
    )
    face = forms.TypedChoiceField(
        label=gettext_lazy("Face"),
        required=False,
        coerce=int,
        empty_value=None,
        choices=[(seed, seed) for seed in FACES],
        initial=FACES[0],
        widget=forms.RadioSelect,
    )
    pace = forms.TypedChoiceField(
        label=gettext_lazy("Voice"),
        required=False,
        coerce=float,
        empty_value=None,
        choices=PACES,
        initial=1.0,
        widget=forms.RadioSelect,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["greeting"] = _("Hello! How good to meet you.")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        role, manner, interests = (cleaned.pop(name, "") for name in ("role", "manner", "interests"))
        cleaned["persona"] = creation.compose_persona(role, manner, interests, cleaned.get("persona", ""))
        self.fields["persona"].run_validators(cleaned["persona"])  # the answers may have made it too long
        return cleaned


@form_view
def new(request: SignedInRequest) -> HttpResponse:
    """Show Kith's characters; on POST, make a companion of one and go to its talk. A double tap makes no second one."""
    language = get_language() or "en"
    context: dict[str, object] = {
        "characters": load_characters(language),
        "key": uuid4(),
        "gallery_is_open": settings.GALLERY,
    }
    if request.method != "POST":
        return render(request, "companions/new.html", context)
    slug = request.POST.get("character", "")
    character = find_character(slug, language)
    if character is None:
        context["refusal"] = _("This character is no longer here. Choose another one.")
        return render(request, "companions/new.html", context, status=UNPROCESSABLE)

    def make() -> UUID:
        admit_to(request.user, "companions", timezone.now())
        greeting = character.choose_greeting(CHANCE.random())
        return creation.begin_as(request.user, character, greeting, timezone.now()).pk

    try:
        made_id, _is_new = create_once(request.user, "begin_as", request.POST.get("key"), slug, make)
    except LimitError as error:
        context["refusal"] = error.detail
        return render(request, "companions/new.html", context, status=UNPROCESSABLE)
    except (IdempotencyKeyError, IdempotencyConflictError) as error:  # of no page of ours
        raise SuspiciousOperation("The form's key is none of Kith's.") from error
    return redirect("talk", made_id)


@form_view
def own(request: SignedInRequest) -> HttpResponse:
    """Show the form for a companion of the person's own; on POST, make it. A double tap makes no second one."""
    form = OwnCompanionForm(request.POST or None)
    given = request.POST.get("key")

    def make() -> UUID:
        admit_to(request.user, "companions", timezone.now())
        companion = creation.create(request.user, now=timezone.now(), **form.cleaned_data)
        show_size_warning(request, companion)
        return companion.pk

    if form.is_bound and form.is_valid():
        # Whoever goes back and writes something else makes another companion.
        written = hashlib.sha256(repr(form.cleaned_data).encode()).hexdigest()
        try:
            made_id, _is_new = create_once(
                request.user, "make_own", given and f"{given}-{written}", written, make
            )
        except LimitError as error:
            form.add_error(None, str(error.detail))
        except IdempotencyKeyError as error:  # of no page of ours
            raise SuspiciousOperation("The form's key is none of Kith's.") from error
        else:
            return redirect("talk", made_id)
    context = {"form": form, "key": given or uuid4()}
    return render(request, "companions/own.html", context, status=UNPROCESSABLE if form.is_bound else 200)

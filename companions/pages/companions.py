"""The inbox, the forms for a companion's character, a companion's settings page, and its deletion."""

from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.validators import MaxLengthValidator, ProhibitNullCharactersValidator
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_safe

from accounts.authentication import SignedInRequest
from companions.access import get_companion
from companions.deletion import delete_companion, delete_rehearsed
from companions.life.outreach import count_unread
from companions.models import Companion, GalleryCharacter
from companions.models.companion import GREETING_CHARACTERS, MAX_GREETINGS
from companions.pages.shortcuts import UNPROCESSABLE, form_view, page_view, post_view
from companions.templatetags.talk import PRESET_HUES, find_nearest_preset

FURTHER_FIELDS = (
    "nickname",
    "personality",
    "alternate_greetings",
    "system_prompt",
    "post_history_instructions",
    "depth_prompt",
    "depth_prompt_depth",
    "depth_prompt_role",
)


class CompanionForm(forms.ModelForm):  # type: ignore[type-arg]
    """A companion's name, persona, greeting, example dialogue and one of the twelve tints."""

    tint = forms.TypedChoiceField(
        label=gettext_lazy("Colour"),
        coerce=int,
        choices=[(hue, hue) for hue in PRESET_HUES],
        widget=forms.RadioSelect,
    )

    class Meta:
        model = Companion
        fields: tuple[str, ...] = ("name", "persona", "greeting", "example_dialogue", "tint")
        widgets: ClassVar[dict[str, Any]] = {
            "name": forms.TextInput(attrs={"autocomplete": "off"}),
            "persona": forms.Textarea(attrs={"rows": 7}),
            "greeting": forms.Textarea(attrs={"rows": 3}),
            "example_dialogue": forms.Textarea(attrs={"rows": 5}),
        }
        help_texts: ClassVar[dict[str, Any]] = {
            "persona": gettext_lazy("Who it is and how it speaks. This is read before every answer."),
            "greeting": gettext_lazy("The first thing it says to you. You can leave this empty."),
            "example_dialogue": gettext_lazy(
                "A few lines that show how it speaks, such as “{{user}}: Hello!” and “{{char}}: Oh. You again.”"
                " In all of these texts {{user}} stands for your name and {{char}} for its own."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["tint"] = find_nearest_preset(int(self.initial.get("tint", 40)))


class TextsWidget(forms.Widget):
    """A text box for each of several texts, and an empty one for a further text."""

    template_name = "companions/_texts_widget.html"

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        context["widget"]["texts"] = [*(value or ()), ""]
        return context

    def render(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None
    ) -> SafeString:
        return render_to_string(self.template_name, self.get_context(name, value, attrs))

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[str]:
        texts = data.getlist(name) if hasattr(data, "getlist") else data.get(name, [])
        return [text.replace("\r\n", "\n") for text in texts if text.strip()]

    def id_for_label(self, id_: str) -> str:
        return f"{id_}_0"


class TextsField(forms.Field):
    """A list of texts, limited in length and number as alternate greetings are."""

    widget = TextsWidget

    def validate(self, value: list[str]) -> None:
        super().validate(value)
        if len(value) > MAX_GREETINGS:
            raise forms.ValidationError(_("There can be at most %(most)s.") % {"most": MAX_GREETINGS})
        for text in value:
            MaxLengthValidator(GREETING_CHARACTERS)(text)
            ProhibitNullCharactersValidator()(text)

    def has_changed(self, initial: Any, data: Any) -> bool:
        return list(initial or ()) != list(data or ())


class AboutForm(CompanionForm):
    """All texts of the character of an existing companion."""

    alternate_greetings = TextsField(
        label=gettext_lazy("Other greetings"),
        required=False,
        help_text=gettext_lazy(
            "Other first messages to choose from when a companion is made from its card. Empty ones are left out."
        ),
    )

    class Meta(CompanionForm.Meta):
        fields = (*CompanionForm.Meta.fields, "without_directions", "scenario", *FURTHER_FIELDS)
        widgets: ClassVar[dict[str, Any]] = {
            **CompanionForm.Meta.widgets,
            "nickname": forms.TextInput(attrs={"autocomplete": "off"}),
            **{
                name: forms.Textarea(attrs={"rows": 3})
                for name in (
                    "personality",
                    "scenario",
                    "system_prompt",
                    "post_history_instructions",
                    "depth_prompt",
                )
            },
        }
        help_texts: ClassVar[dict[str, Any]] = {
            **CompanionForm.Meta.help_texts,
            "nickname": gettext_lazy(
                "What {{char}} stands for in its texts. If this is empty, its name is used."
            ),
            "scenario": gettext_lazy("Where and how you two meet. This is read before every answer."),
            "system_prompt": gettext_lazy(
                "These come before the persona and below the rules of this Kith, which they cannot change."
            ),
            "post_history_instructions": gettext_lazy(
                "These come after what you say, where they carry the most weight, and replace what Kith says"
                " about manner and length. {{original}} puts that back in."
            ),
            "depth_prompt": gettext_lazy(
                "A reminder that is part of every prompt, a few messages before the newest one."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("depth_prompt_depth", "depth_prompt_role"):
            self.fields[name].required = False

    def clean_depth_prompt_depth(self) -> int:
        depth: int | None = self.cleaned_data["depth_prompt_depth"]
        return self.instance.depth_prompt_depth if depth is None else depth

    def clean_depth_prompt_role(self) -> str:
        role: str = self.cleaned_data["depth_prompt_role"]
        return role or self.instance.depth_prompt_role

    @property
    def has_further_errors(self) -> bool:
        """Whether a field in the collapsed part of the form has an error."""
        return not self.errors.keys().isdisjoint(FURTHER_FIELDS)


class TalkSettingsForm(forms.ModelForm):  # type: ignore[type-arg]
    """How long a silence ends a talk."""

    class Meta:
        model = Companion
        fields = ("idle_hours",)
        labels: ClassVar[dict[str, Any]] = {"idle_hours": gettext_lazy("Hours of silence that end a talk")}
        help_texts: ClassVar[dict[str, Any]] = {
            "idle_hours": gettext_lazy(
                "From 1 to 720. After such a silence, it writes what you talked about in its diary."
            )
        }


class TypedNameForm(forms.Form):
    """The companion's name, to be typed as a confirmation, so that nothing is deleted by mistake."""

    typed_name = forms.CharField(
        label=gettext_lazy("Its name"), max_length=80, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )

    def __init__(self, companion: Companion, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.companion = companion

    def clean_typed_name(self) -> str:
        typed: str = self.cleaned_data["typed_name"]
        if typed != self.companion.name.strip():
            raise forms.ValidationError(_("This does not match its name."))
        return typed


@require_safe
def welcome(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect("companions")
    return render(request, "welcome.html")


@page_view
def companions(request: SignedInRequest) -> HttpResponse:
    """Show the inbox: each companion with the last message of the talk and the unread count, newest talk first."""
    last = Coalesce("conversation__head__said_at", "created_at")
    mine = (
        Companion.objects.owned_by(request.user)
        .select_related("conversation__head")
        .order_by(last.desc(), "pk")
    )
    if not mine:
        return redirect("companion_new")
    counts = count_unread(request.user, timezone.now())
    context: dict[str, Any] = {
        "people": [(companion, counts.get(companion.pk, 0)) for companion in mine],
        "unread_total": sum(counts.values()),
        "today": timezone.localdate(),
    }
    if request.htmx:  # the list beside a talk, also as reloaded when a companion writes first
        context["open"] = request.GET.get("open", "")
        return render(request, "companions/_people.html", context)
    return render(request, "companions/companions.html", context)


@form_view
def edit(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Show the companion's settings, with its exports and its deletion; on POST, save the form."""
    companion = get_companion(request.user, companion_id)
    form = TalkSettingsForm(request.POST or None, instance=companion)
    if form.is_bound and form.is_valid():
        companion.save(update_fields=form.Meta.fields)  # no other field, which may have changed meanwhile
        messages.success(request, _("Saved."))
        return redirect("companion", companion.pk)
    return _companion_page(request, get_companion(request.user, companion_id), form=form)


@post_view
def delete(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion = get_companion(request.user, companion_id)
    form = TypedNameForm(companion, request.POST)
    if not form.is_valid():
        return _companion_page(request, companion, deletion_form=form)
    delete_companion(companion)
    messages.success(
        request,
        _("%(name)s has been deleted, along with everything that was said and remembered.")
        % {"name": companion.name},
    )
    return redirect("companions")


@post_view
def delete_rehearsals(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    companion = get_companion(request.user, companion_id)
    count = delete_rehearsed(companion, timezone.now())
    said = ngettext(
        "%(count)s rehearsed answer has been deleted.",
        "%(count)s rehearsed answers have been deleted.",
        count,
    )
    messages.success(request, said % {"count": count})
    return redirect("companion", companion.pk)


def _companion_page(
    request: SignedInRequest,
    companion: Companion,
    form: TalkSettingsForm | None = None,
    deletion_form: TypedNameForm | None = None,
) -> HttpResponse:
    """Render the companion's settings page, with the given form in its place if it has errors."""
    form = form or TalkSettingsForm(instance=companion)
    deletion_form = deletion_form or TypedNameForm(companion)
    context = {
        "companion": companion,
        "form": form,
        "deletion_form": deletion_form,
        "rehearsed": companion.messages.filter(is_rehearsed=True).count(),
        "gallery_is_open": settings.GALLERY,
        "is_published": GalleryCharacter.objects.filter(companion=companion).exists(),
    }
    status = UNPROCESSABLE if form.is_bound or deletion_form.is_bound else 200
    return render(request, "companions/companion.html", context, status=status)

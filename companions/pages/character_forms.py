"""The forms for the texts of a companion's character: those of a new companion, and all of them."""

from typing import Any, ClassVar

from django import forms
from django.core.validators import MaxLengthValidator, ProhibitNullCharactersValidator
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companions.models import Companion
from companions.models.companion import GREETING_CHARACTERS, MAX_GREETINGS
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
        error_messages: ClassVar[dict[str, Any]] = {"name": {"required": gettext_lazy("Give it a name.")}}
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

"""Forms for what is always in mind; what may stand there is decided in memory.core_memory."""

from django import forms
from django.utils.translation import gettext_lazy as _

from memory.core_memory import MOST_BLOCK_CHARACTERS, NAME_CHARACTERS
from memory.models.always import BLOCK_CHARACTERS, SLOT_CHARACTERS


def _name(hint: object) -> forms.CharField:
    field = forms.TextInput(attrs={"autocomplete": "off"})
    return forms.CharField(label=_("Name"), max_length=NAME_CHARACTERS, widget=field, help_text=hint)  # type: ignore[arg-type]


class SlotTextForm(forms.Form):
    """What stands in a slot."""

    text = forms.CharField(
        label=_("What is always in mind"),
        max_length=SLOT_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class SlotForm(SlotTextForm):
    """A slot that is new, or another text for the one of that name."""

    name = _name(_("A word or two for what it is about, such as “birthday”."))
    field_order = ("name", "text")


class BlockTextForm(forms.Form):
    """What stands in a block, and what may."""

    description = forms.CharField(label=_("What it is for"), max_length=200, required=False)
    text = forms.CharField(
        label=_("Text"),
        max_length=MOST_BLOCK_CHARACTERS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
    )
    most_characters = forms.IntegerField(
        label=_("How many characters it may hold"),
        min_value=1,
        max_value=MOST_BLOCK_CHARACTERS,
        initial=BLOCK_CHARACTERS,
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
    )
    is_read_only = forms.BooleanField(
        label=_("Your companion may read it, but not write on it"), required=False
    )


class BlockForm(BlockTextForm):
    """A block that is new."""

    name = _name(_("For example “plans”."))
    field_order = ("name", "description", "text", "most_characters", "is_read_only")

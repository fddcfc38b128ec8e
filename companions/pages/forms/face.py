from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from companions.face.portraits import SEEDS, TABLES, Features
from memory.emotion import Emotion

Words = dict[str, Any]  # of texts that wait for a reader's language

LABELS: Words = {
    "skin": _("Skin"),
    "face": _("Face"),
    "hair": _("Hair"),
    "hair_colour": _("Colour of the hair"),
    "brows": _("Brows"),
    "eyes": _("Eyes"),
    "eye_colour": _("Colour of the eyes"),
    "nose": _("Nose"),
    "mouth": _("Mouth"),
    "beard": _("Beard"),
    "skin_marks": _("On the skin"),
    "glasses": _("Glasses"),
    "earrings": _("Earrings"),
    "clothes": _("Clothes"),
    "cloth_colour": _("Colour of the clothes"),
}
NAMES: dict[str, Words] = {
    "skin": {
        "porcelain": pgettext_lazy("skin", "porcelain"), "fair": pgettext_lazy("skin", "fair"),
        "peach": pgettext_lazy("skin", "peach"), "honey": pgettext_lazy("skin", "honey"),
        "olive": pgettext_lazy("skin", "olive"), "caramel": pgettext_lazy("skin", "caramel"),
        "bronze": pgettext_lazy("skin", "bronze"), "umber": pgettext_lazy("skin", "umber"),
        "cocoa": pgettext_lazy("skin", "cocoa"), "ebony": pgettext_lazy("skin", "ebony"),
    },
    "face": {
        "oval": pgettext_lazy("face", "oval"), "round": pgettext_lazy("face", "round"),
        "heart": pgettext_lazy("face", "heart-shaped"), "square": pgettext_lazy("face", "square"),
        "long": pgettext_lazy("face", "long"),
    },
    "hair": {
        "crop": pgettext_lazy("hair", "cropped"), "parted": pgettext_lazy("hair", "parted at the side"),
        "swept": pgettext_lazy("hair", "swept up"), "fringe": pgettext_lazy("hair", "bob with a fringe"),
        "bob": pgettext_lazy("hair", "bob"), "long": pgettext_lazy("hair", "long"),
        "waves": pgettext_lazy("hair", "waves"), "bun": pgettext_lazy("hair", "bun"),
        "tail": pgettext_lazy("hair", "ponytail"), "curls": pgettext_lazy("hair", "curls"),
        "cloud": pgettext_lazy("hair", "afro"), "coils": pgettext_lazy("hair", "short coils"),
        "locs": pgettext_lazy("hair", "locs"), "pixie": pgettext_lazy("hair", "pixie"),
        "braid": pgettext_lazy("hair", "braid"), "buzz": pgettext_lazy("hair", "shorn"),
        "bald": pgettext_lazy("hair", "bald"), "scarf": pgettext_lazy("hair", "headscarf"),
    },
    "hair_colour": {
        "ink": pgettext_lazy("hair colour", "black"), "coffee": pgettext_lazy("hair colour", "dark brown"),
        "chestnut": pgettext_lazy("hair colour", "chestnut"), "auburn": pgettext_lazy("hair colour", "auburn"),
        "copper": pgettext_lazy("hair colour", "copper"), "honey": pgettext_lazy("hair colour", "dark blond"),
        "straw": pgettext_lazy("hair colour", "blond"), "ash": pgettext_lazy("hair colour", "grey"),
        "silver": pgettext_lazy("hair colour", "silver"), "plum": pgettext_lazy("hair colour", "plum"),
        "slate": pgettext_lazy("hair colour", "slate blue"), "rosewood": pgettext_lazy("hair colour", "rosewood"),
    },
    "brows": {
        "soft": pgettext_lazy("brows", "soft"), "straight": pgettext_lazy("brows", "straight"),
        "arched": pgettext_lazy("brows", "arched"), "full": pgettext_lazy("brows", "full"),
    },
    "eyes": {
        "almond": pgettext_lazy("eyes", "almond"), "round": pgettext_lazy("eyes", "round"),
        "upturned": pgettext_lazy("eyes", "upturned"), "hooded": pgettext_lazy("eyes", "hooded"),
        "lashes": pgettext_lazy("eyes", "with lashes"),
    },
    "eye_colour": {
        "brown": pgettext_lazy("eye colour", "brown"), "dark": pgettext_lazy("eye colour", "dark"),
        "hazel": pgettext_lazy("eye colour", "hazel"), "green": pgettext_lazy("eye colour", "green"),
        "grey": pgettext_lazy("eye colour", "grey"), "blue": pgettext_lazy("eye colour", "blue"),
    },
    "nose": {
        "button": pgettext_lazy("nose", "small"), "straight": pgettext_lazy("nose", "straight"),
        "broad": pgettext_lazy("nose", "broad"), "long": pgettext_lazy("nose", "long"),
        "soft": pgettext_lazy("nose", "soft"),
    },
    "mouth": {
        "plain": pgettext_lazy("mouth", "plain"), "full": pgettext_lazy("mouth", "full"),
        "small": pgettext_lazy("mouth", "small"), "wide": pgettext_lazy("mouth", "wide"),
    },
    "beard": {
        "none": pgettext_lazy("beard", "none"), "stubble": pgettext_lazy("beard", "stubble"),
        "moustache": pgettext_lazy("beard", "moustache"), "short": pgettext_lazy("beard", "short"),
        "full": pgettext_lazy("beard", "full"),
    },
    "skin_marks": {
        "none": pgettext_lazy("skin marks", "nothing"), "freckles": pgettext_lazy("skin marks", "freckles"),
        "mole": pgettext_lazy("skin marks", "a mole"), "lines": pgettext_lazy("skin marks", "lines of age"),
    },
    "glasses": {
        "none": pgettext_lazy("glasses", "none"), "round": pgettext_lazy("glasses", "round"),
        "square": pgettext_lazy("glasses", "square"), "fine": pgettext_lazy("glasses", "fine"),
    },
    "earrings": {
        "none": pgettext_lazy("earrings", "none"), "studs": pgettext_lazy("earrings", "studs"),
        "hoops": pgettext_lazy("earrings", "hoops"), "drops": pgettext_lazy("earrings", "drops"),
    },
    "clothes": {
        "crew": pgettext_lazy("clothes", "round neck"), "vee": pgettext_lazy("clothes", "V-neck"),
        "shirt": pgettext_lazy("clothes", "shirt"), "turtleneck": pgettext_lazy("clothes", "turtleneck"),
        "hoodie": pgettext_lazy("clothes", "hoodie"), "cardigan": pgettext_lazy("clothes", "cardigan"),
    },
    "cloth_colour": {
        "oat": pgettext_lazy("cloth colour", "oat"), "terracotta": pgettext_lazy("cloth colour", "terracotta"),
        "mustard": pgettext_lazy("cloth colour", "mustard"), "sage": pgettext_lazy("cloth colour", "sage"),
        "forest": pgettext_lazy("cloth colour", "forest green"), "sky": pgettext_lazy("cloth colour", "sky blue"),
        "navy": pgettext_lazy("cloth colour", "navy"), "plum": pgettext_lazy("cloth colour", "plum"),
        "rose": pgettext_lazy("cloth colour", "rose"), "charcoal": pgettext_lazy("cloth colour", "charcoal"),
    },
}  # fmt: skip


class FaceForm(forms.Form):
    """A seed, and a name from every table."""

    seed = forms.IntegerField(min_value=0, max_value=SEEDS - 1, widget=forms.HiddenInput)

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        for feature, table in TABLES.items():
            choices = [(name, NAMES[feature][name]) for name in table]
            self.fields[feature] = forms.ChoiceField(
                label=LABELS[feature], choices=choices, widget=forms.RadioSelect
            )

    @property
    def features(self) -> Features:
        """What was chosen, once it is valid."""
        return Features(**{feature: self.cleaned_data[feature] for feature in TABLES})


class PictureForm(forms.Form):
    """For which emotion a picture is; its content is read apart."""

    emotion = forms.ChoiceField(
        label=_("When it is shown"), choices=[("", _("always")), *Emotion.choices], required=False
    )

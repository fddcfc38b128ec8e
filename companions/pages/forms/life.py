"""Forms of a companion's life: when it may write, and where that reaches its person."""

from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from companions.models import Life

CLOCK = "%H:%M"


def _clock() -> forms.TimeInput:
    return forms.TimeInput(attrs={"type": "time"}, format=CLOCK)


class LifeForm(forms.ModelForm):  # type: ignore[type-arg]
    """How a companion lives between talks; whether it is muted is a button of its own."""

    class Meta:
        model = Life
        fields = (
            "is_awake",
            "reaches_out",
            "most_a_day",
            "quiet_from",
            "quiet_until",
            "sleeps_from",
            "sleeps_until",
            "by_push",
            "by_email",
        )
        widgets: ClassVar[dict[str, Any]] = {
            "most_a_day": forms.NumberInput(attrs={"inputmode": "numeric", "min": 0, "max": Life.MOST_A_DAY}),
            **{f"{name}_{end}": _clock() for name in ("quiet", "sleeps") for end in ("from", "until")},
        }
        help_texts: ClassVar[dict[str, Any]] = {
            "is_awake": _("It wakes by its timers and by what it thinks of, and its inner state goes on."),
            "reaches_out": _(
                "Without this it writes first only where you asked it to, as with “remind me at six”."
            ),
            "most_a_day": _("From 0 to 10. What you asked for is not counted."),
            "by_email": _("At most one mail in three hours, with what you have not read by then."),
        }

    def save(self, commit: bool = True) -> Life:
        """Nothing but what the form holds is written: the rest of the row belongs to the sweeps."""
        life: Life = self.instance
        if commit:
            life.save(update_fields=list(self.fields))
        return life

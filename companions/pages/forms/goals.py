"""The form of a goal or an idea: how far it is, how exciting, and what a goal is a part of."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from memory.models import Memory, Pursuit
from text.shorten import shorten

MAX_GOAL_CHARACTERS = 80  # of a goal in the list to choose from


class PursuitForm(forms.Form):
    """`goals` are those that a goal can be a part of; an idea has no such field."""

    status = forms.ChoiceField(label=_("How it stands"), choices=Pursuit.Status.choices)
    progress = forms.IntegerField(
        label=_("Progress in per cent"),
        min_value=0,
        max_value=100,
        widget=forms.NumberInput(attrs={"inputmode": "numeric", "step": 5}),
    )
    excitement = forms.IntegerField(
        label=_("How exciting, from 1 to 10"),
        min_value=1,
        max_value=10,
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
    )
    parent_id = forms.TypedChoiceField(
        label=_("A part of"), required=False, empty_value=None, coerce=UUID, choices=()
    )

    def __init__(self, *args: Any, pursuit: Pursuit, goals: Iterable[Pursuit] = (), **kwargs: Any) -> None:
        stands = {name: getattr(pursuit, name) for name in self.base_fields}
        super().__init__(*args, **{"initial": stands, **kwargs})
        if pursuit.memory.kind != Memory.Kind.GOAL:
            del self.fields["parent_id"]
            return
        others = [goal.memory for goal in goals if goal.memory_id != pursuit.memory_id]
        named = [(str(memory.pk), shorten(memory.text, MAX_GOAL_CHARACTERS)) for memory in others]
        field: Any = self.fields["parent_id"]
        field.choices = [("", _("nothing greater")), *named]

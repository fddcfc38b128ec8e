"""What a companion's person is told, and decides, when the operator changes the model or the model is unavailable."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import models, transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from companions.errors import ModelChoiceError
from companions.minds.choice import find_proposed_model, get_mind, take_model
from companions.minds.editing import list_providers
from companions.models import Companion, Mind
from providers.selection import Capability, find_providers, preferring

LATER = timedelta(days=7)


class Decision(models.TextChoices):
    TAKE = "take", gettext_lazy("have it answer from now on")
    LATER = "later", gettext_lazy("decide later")
    DECLINE = "decline", gettext_lazy("keep the one that answers now")
    STAND_IN = "stand_in", gettext_lazy("have another stand in while its own is away")


@dataclass(frozen=True, slots=True)
class ModelState:
    """A companion's model ("" before its first answer), and whether it can be asked now.

    `other` is a model that could stand in for it, and `proposed` the operator's model that the person has not decided
    on; both are "" if there is none.
    """

    model: str
    is_there: bool
    allows_stand_in: bool
    other: str
    proposed: str


def describe_state(companion: Companion, now: datetime) -> ModelState:
    """Return the state of the companion's model."""
    mind = get_mind(companion)
    with preferring(companion.preference):
        real = [provider.model for provider in find_providers() if not provider.is_rehearsal]
        own = find_providers(model=mind.model)
    return ModelState(
        model=mind.model,
        is_there=not mind.model or bool(own),
        allows_stand_in=mind.allows_stand_in,
        other=next((model for model in real if model != mind.model), ""),
        proposed=find_proposed_model(companion, now),
    )


@transaction.atomic
def decide(companion: Companion, decision: str, model: str, now: datetime) -> None:
    """Carry out the person's decision about the model. Raise ModelChoiceError if that is impossible."""
    companion.lock()
    mind = get_mind(companion)
    if decision not in Decision.values:
        raise ModelChoiceError("no_such_decision", _("Nothing was decided. Choose one of the options."))
    with preferring(companion.preference):
        own, other = find_providers(model=mind.model), find_providers(model=model)
    if decision != Decision.LATER and not (model and other):
        raise ModelChoiceError(
            "no_such_model", _("This model is not available right now. Check which ones are.")
        )
    if decision == Decision.TAKE:
        take_model(companion, model)
        return
    if decision == Decision.DECLINE and not own:
        detail = _(
            "The model that you want to keep is no longer available. Switch to the other one, or decide later."
        )
        raise ModelChoiceError("own_model_missing", detail)
    if decision == Decision.LATER:
        fields: dict[str, Any] = {"asks_again_at": now + LATER}
    elif decision == Decision.DECLINE:
        fields = {"declined_model": model, "asks_again_at": None}
    else:
        fields = {"allows_stand_in": True}
    companion.mind, _is_new = Mind.objects.update_or_create(companion=companion, defaults=fields)


def list_others(companion: Companion) -> list[str]:
    """Return the models that can be asked now, except the companion's: in order of fallback, then the user's own."""
    own = get_mind(companion).model
    return [model for model in list_providers(companion.user_id, Capability.CHAT) if model != own]

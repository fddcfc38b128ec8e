"""A person's changes of a companion's mind, validated as a whole before they are saved."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from companions.errors import MindError
from companions.minds.choice import get_mind, take_model
from companions.minds.presets import FALLBACK_LANGUAGE, load_presets
from companions.minds.sampling import check_context, check_sampling
from companions.models import Companion, Mind
from providers.chat_provider import ChatProvider
from providers.selection import Capability, find_own, find_providers


def list_providers(user_id: int, capability: Capability) -> dict[str, ChatProvider]:
    """Return the providers that can be asked now, by model: in order of fallback, then the user's own.

    If both have a model, the user's own is returned for it. The rehearsal model is left out.
    """
    found: dict[str, ChatProvider] = {}
    for provider in find_providers(capability):
        if provider.base_url and provider.model and not provider.is_rehearsal:
            found.setdefault(provider.model, provider)
    return found | {own.model: own for own in find_own(user_id)}


def change_mind(companion: Companion, changes: Mapping[str, Any]) -> Mind:
    """Save these fields of the companion's `Mind` and return it. Raise MindError, with none saved, if one is invalid.

    A new model must be available; the current one may stay even if it is away. `sampling` replaces all earlier values.
    """
    mind, kept = get_mind(companion), dict(changes)
    model = kept.pop("model", mind.model)
    if model != mind.model and model not in list_providers(companion.user_id, Capability.CHAT):
        raise MindError("model", _no_such_model(model))
    background = kept.get("background_model", "")
    if background not in {
        "",
        mind.background_model,
        *list_providers(companion.user_id, Capability.BACKGROUND),
    }:
        raise MindError("background_model", _no_such_model(background))
    if kept.get("preset", "") not in {"", *load_presets(FALLBACK_LANGUAGE)}:
        raise MindError("preset", _("There is no such manner."))
    if "sampling" in kept:
        kept["sampling"] = check_sampling(kept["sampling"])
    if kept.get("context_tokens") is not None:
        check_context(kept["context_tokens"])
    with transaction.atomic():
        if kept:
            companion.mind, _is_new = Mind.objects.update_or_create(companion=companion, defaults=kept)
        if model != mind.model:
            take_model(companion, model)
    return get_mind(companion)


def _no_such_model(model: str) -> str:
    return _("No model called %(model)s is available right now. Choose one of those offered.") % {
        "model": model[:80]
    }

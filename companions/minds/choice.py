"""What answers for a companion: a provider with its own model, or a stand-in if its person allows that, and how."""

from datetime import datetime
from typing import Any

from companions.minds.presets import FALLBACK_LANGUAGE, load_presets
from companions.models import Companion, Mind, Reply
from companions.prompting.turn_prompt import TEMPLATE
from providers.chat_provider import ChatProvider
from providers.errors import ModelMissing
from providers.selection import find_providers, get_provider, is_rehearsal, preferring


def get_mind(companion: Companion) -> Mind:
    """Return the companion's mind, or an unsaved one if it has none."""
    mind: Mind | None = getattr(companion, "mind", None)
    return mind or Mind(companion=companion)


def get_current_provider(companion: Companion) -> ChatProvider:
    """Return the provider that would answer for the companion now; the installation's first if its model is away."""
    with preferring(companion.preference):
        return get_provider()


def choose_provider(companion: Companion, begun_by: str = "") -> tuple[ChatProvider, bool]:
    """Return the provider that answers for the companion in a talk or a waking, and whether it is a stand-in.

    An answer `begun_by` a stand-in's model is continued by it, if it is available and still allowed. Raise ModelMissing
    if the companion's model is away and no stand-in is allowed or available. Call it within the companion's preference.
    """
    mind = get_mind(companion)
    if not mind.model:
        return find_providers()[0], False
    if begun := [other for other in find_stand_ins(companion) if other.model == begun_by]:
        return begun[0], True
    if own := find_providers(model=mind.model):
        return own[0], False
    if stand_ins := find_stand_ins(companion):
        return stand_ins[0], True
    raise ModelMissing(f"No provider that can be asked now has the model {mind.model}")


def find_stand_ins(companion: Companion) -> list[ChatProvider]:
    """Return the providers that may stand in for the companion's model, the first of each other model.

    The list is empty unless its person allows stand-ins.
    """
    mind = get_mind(companion)
    if not (mind.model and mind.allows_stand_in):
        return []
    firsts: dict[str, ChatProvider] = {}
    for other in find_providers():
        if other.model not in ("", mind.model) and not other.is_rehearsal:
            firsts.setdefault(other.model, other)
    return list(firsts.values())


def compute_sampling(mind: Mind) -> dict[str, Any]:
    """Return the fields of `Sampling` that are set for the companion: its own values override its preset's."""
    preset = load_presets(FALLBACK_LANGUAGE).get(mind.preset)
    return {**(preset.sampling if preset else {}), **mind.sampling}


def keep_model(companion: Companion, reply: Reply) -> None:
    """Save the model that answered as the companion's, unless it has one. Stand-ins and rehearsals are never saved."""
    mind = get_mind(companion)
    if reply.model and not (mind.model or reply.is_stand_in or is_rehearsal(reply.model)):
        take_model(companion, reply.model)


def take_model(companion: Companion, model: str) -> None:
    """Save the model as the companion's own, with the current prompt version, and forget earlier decisions."""
    kept = {"model": model, "prompt_version": TEMPLATE, "declined_model": "", "asks_again_at": None}
    companion.mind, _is_new = Mind.objects.update_or_create(companion=companion, defaults=kept)


def find_proposed_model(companion: Companion, now: datetime) -> str:
    """Return the operator's model if it differs from the companion's and the person should be asked now, or else "".

    A person is not asked while a provider of their own answers for the companion.
    """
    if get_current_provider(companion).is_own:
        return ""
    mind, offered = get_mind(companion), find_providers()[0].model
    is_asked = mind.asks_again_at is None or mind.asks_again_at <= now
    is_other = bool(mind.model and offered) and offered not in {mind.model, mind.declined_model}
    return offered if is_other and is_asked and not is_rehearsal(offered) else ""

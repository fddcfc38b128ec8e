"""Which provider answers for a companion: one with its own model; another's only where its person allows a stand-in."""

from datetime import datetime

from companions.models import Companion, Mind, Reply
from companions.prompting.turn_prompt import TEMPLATE
from providers.chat_provider import ChatProvider
from providers.errors import ModelMissing
from providers.preference import preferring
from providers.selection import find_providers, get_provider, is_rehearsal


def get_mind(companion: Companion) -> Mind:
    """Return the companion's mind; one that is not saved yet where it has none."""
    mind: Mind | None = getattr(companion, "mind", None)
    return mind or Mind(companion=companion)


def get_current_provider(companion: Companion) -> ChatProvider:
    """Return who would answer for the companion as things stand; the installation's first where its own model is away."""
    with preferring(companion.preference):
        return get_provider()


def choose_provider(companion: Companion, begun_by: str = "") -> tuple[ChatProvider, bool]:
    """Return who answers for the companion in a talk or a waking, and whether that is a stand-in.

    An answer that a stand-in's model has begun goes on by it, where it is there and still allowed. ModelMissing where its
    own model is away and its person has allowed none. Call it within the companion's preference.
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
    """Return who may answer while the companion's own model is away, the first of each other model.

    None where its person allows none.
    """
    mind = get_mind(companion)
    if not (mind.model and mind.allows_stand_in):
        return []
    firsts: dict[str, ChatProvider] = {}
    for other in find_providers():
        if other.model not in ("", mind.model) and not other.is_rehearsal:
            firsts.setdefault(other.model, other)
    return list(firsts.values())


def keep_model(companion: Companion, reply: Reply) -> None:
    """Make the model that answered the companion's own, where it has none yet. The rehearsal model is none."""
    mind = get_mind(companion)
    if reply.model and not (mind.model or reply.is_stand_in or is_rehearsal(reply.model)):
        take_model(companion, reply.model)


def take_model(companion: Companion, model: str) -> None:
    """Have the companion answered by this model from now on; no other is proposed before the operator's next change."""
    kept = {"model": model, "prompt_version": TEMPLATE, "declined_model": "", "asks_again_at": None}
    companion.mind, _is_new = Mind.objects.update_or_create(companion=companion, defaults=kept)


def find_proposed_model(companion: Companion, now: datetime) -> str:
    """Return the operator's model where it is another than the companion's and its person is to be asked now, else "".

    Whoever has it answered by a provider of their own is not asked.
    """
    if get_current_provider(companion).is_own:
        return ""
    mind, offered = get_mind(companion), find_providers()[0].model
    is_asked = mind.asks_again_at is None or mind.asks_again_at <= now
    is_other = bool(mind.model and offered) and offered not in {mind.model, mind.declined_model}
    return offered if is_other and is_asked and not is_rehearsal(offered) else ""

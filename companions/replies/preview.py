"""Measurements of how a companion's next prompt, and the texts of its character, would fill the model's context."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from companions import tools
from companions.conversations.messages import load_spoken
from companions.lore.turn import find_constant_lore, find_lore
from companions.models import Companion, Message, Reply, Session
from companions.prompting.budgets import memory_tokens
from companions.prompting.persona import Persona
from companions.prompting.usage import ContextUsage, Part, leaves_no_room, measure_usage
from companions.replies.context import MAX_HISTORY_MESSAGES, TurnContext, compose, load_talk
from providers.selection import get_provider, preferring
from providers.tokens import estimate

COUNTED_FIELDS = (
    *("persona", "personality", "scenario", "greeting", "example_dialogue"),
    *("system_prompt", "post_history_instructions", "depth_prompt"),
)


def preview_usage(companion: Companion, now: datetime) -> ContextUsage:
    """Return how the prompt of a short message would fill the context; memories count with their whole budget."""
    with preferring(companion.preference):
        session = Session.objects.filter(companion=companion, ended_at=None, waking=None).first() or Session(
            companion=companion, conversation=companion.conversation, started_at=now
        )
        head = companion.conversation.head
        said = load_spoken(head, MAX_HISTORY_MESSAGES) if head and head.session_id == session.pk else []
        visible = [spoken for spoken in said if not spoken.is_hidden]
        message = Message(companion=companion, session=session, said_at=now, text="…")
        turn = TurnContext(Reply(companion=companion, message=message))
        lore = find_lore(companion, message, [(spoken.role, spoken.text) for spoken in visible[::-1]])
        load_talk(turn, session, visible, lore.placed, now)
        compose(turn)
        usage = measure_usage(turn.prompt, turn.offers)
        return ContextUsage({**usage.parts, Part.MEMORIES: memory_tokens()}, usage.size)


def is_crowded(companion: Companion) -> bool:
    """Return whether the fixed part of the companion's prompt leaves no room for a conversation."""
    with preferring(companion.preference):
        return leaves_no_room(companion, tools.count_offered_tokens())


@dataclass(frozen=True, slots=True)
class CharacterSize:
    """The estimated size of a character in tokens.

    `texts` has the size of each text; `always` is the size of what is in every prompt, with the constant lore;
    `examples` is the example dialogue, the first to be left out; `greeting` is sent once. `context` is the context size
    of its model; if `is_crowded`, the character leaves no room for a conversation.
    """

    texts: Mapping[str, int]
    always: int
    examples: int
    greeting: int
    context: int
    is_crowded: bool


def measure_character(companion: Companion) -> CharacterSize:
    """Return the size of the companion's texts as they are on the instance, saved or not."""
    with preferring(companion.preference):
        seed = companion.pk.int
        persona = Persona(companion=companion, lore=find_constant_lore(companion, seed), seed=seed)
        texts = {name: estimate(persona.expand(getattr(companion, name))) for name in COUNTED_FIELDS}
        greetings = [estimate(persona.expand(text)) for text in companion.alternate_greetings]
        return CharacterSize(
            texts={**texts, "alternate_greetings": sum(greetings)},
            always=estimate(persona.render()) + persona.note_tokens + texts["post_history_instructions"],
            examples=estimate(persona.render_examples()),
            greeting=texts["greeting"],
            context=get_provider().context_tokens,
            is_crowded=leaves_no_room(companion, tools.count_offered_tokens()),
        )

"""What is asked of the model when a companion reflects, and what of its answer stands on what it was shown."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

import regex

from accounts.models import ModelCall
from accounts.usage import Payer, charged
from companions.life.inner_state import feeling_now
from companions.life.mood import Feeling
from companions.models import Companion, InnerState, Message, Session
from companions.sessions.stretch import fitting, room, talk_of
from memory.learning.answers import Reflection
from memory.learning.grounding import names_in, stands_on
from memory.learning.prompting import reflection_request
from memory.learning.secrets import redacted
from memory.learning.talk import Talk
from providers.errors import MalformedError
from providers.structured import ask
from providers.tokens import beginning

MOST_MESSAGES = 40
MOST_SENTENCES = 60  # that are looked at; each is compared with all that was shown
PERSONA_SHARE, INNER_SHARE = 4, 8  # a quarter and an eighth of the room for what was said
MOST_NAMES = 0.2  # of all words: where more begin with a capital, nouns do
WORD = regex.compile(r"\p{L}+")
SENTENCE = regex.compile(r"[^.!?。！？\n]*+(?:[.!?]++(?!\s|$)[^.!?。！？\n]*+)*+[.!?。！？\n]*+\s*+")


@dataclass(frozen=True, slots=True)
class Material:
    """What a companion reflects upon, and the inner state from which it goes on; oldest message first."""

    companion: Companion
    session: Session
    before: InnerState | None
    messages: list[Message]


@dataclass(frozen=True, slots=True)
class Reflected:
    """A new inner state, as yet kept nowhere: its text and feeling, the messages that were shown, and the call."""

    text: str
    feeling: Feeling
    shown: list[Message]
    call_id: int


def reflect(material: Material, now: datetime) -> Reflected:
    """Ask the model. ProviderUnavailable, ProviderRefused; MalformedError, also where nothing of it stands."""
    companion, before = material.companion, material.before
    persona = beginning(companion.persona, room() // PERSONA_SHARE)
    inner = in_short(before) if before else ""
    tokens = room(persona, inner)
    shown = fitting(material.messages[: -MOST_MESSAGES - 1 : -1], tokens)[::-1]
    talk = talk_of(companion.pk, shown, companion.user.zone, tokens)
    request = reflection_request(talk, persona, inner, feeling_now(before, now).told, companion.names)
    with charged(Payer(companion.user_id, companion.pk), ModelCall.Purpose.REFLECTION) as charge:
        answer = ask("reflection", request, Reflection)
    text = standing(answer.text, talk, f"{inner}\n{persona}", companion.names.values())
    if not text:
        raise MalformedError("No sentence of the inner state stands on what was shown")
    return Reflected(text, feeling_of(answer), shown, charge.calls[-1].pk)


def in_short(state: InnerState) -> str:
    """As much of its text as a request has room for."""
    return beginning(state.text, room() // INNER_SHARE)


def feeling_of(answer: Reflection) -> Feeling:
    """What the answer says that is felt."""
    return Feeling(answer.valence, answer.arousal, answer.emotion, answer.intensity)


def standing(text: str, talk: Talk, kept: str, names: Collection[str]) -> str:
    """The text without sentences that name what was not shown, and with "…" in place of secrets; it may be empty.

    Each name, number and day stands in the talk, in what is `kept` of before, or is what one of the two is called.
    Where all nouns have capitals, as in German, these tell nothing of names.
    """
    told = redacted(text, talk.secrets)
    shown = " \n".join([kept, *(line.text for line in talk.lines)])
    as_read = str.lower if len(names_in(shown)) > MOST_NAMES * len(set(WORD.findall(shown))) else str
    sentences = islice(filter(str.strip, SENTENCE.findall(told)), MOST_SENTENCES)
    return "".join(one for one in sentences if stands_on(as_read(one), talk.lines, kept, names)).strip()

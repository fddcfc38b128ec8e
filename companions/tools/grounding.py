"""Grounding of what a companion writes of its own accord: sentences about things that it was never shown are left out.

Names, numbers and days must be in the prompt, as for everything learnt. So must definite things without a name ("her
lessons at the conservatory", "the storm"), except words of inner life and of passing time. For weather, tears and
promises, the persona is not enough: they must be in the conversation or in memories of it.
"""

from dataclasses import dataclass
from functools import cached_property

from companions.conversations.messages import SPEAKERS
from companions.life.reflection import keep_grounded
from companions.models import Message
from companions.tools.tool import ToolContext
from memory.language import pattern_of, words_of
from memory.learning.rules.grounding import is_made_up
from memory.learning.talk import Line, Talk
from memory.recall.traits import tells_something, terms
from text.strings import cut_sentences, shorten

MAX_TOLD_CHARACTERS = 200  # of each left-out sentence, as reported to the model
REFUSED = "Not kept, for it tells of what was not shown to you: {what}. Write only of what is there, or of how you feel."


@dataclass(frozen=True)
class Shown:
    """The text that the prompt of a turn or a waking shows, and the messages in it."""

    context: ToolContext

    @cached_property
    def text(self) -> str:
        """Return all that the model was given to read, including tools' results; not what it has written itself."""
        lines = (line for line in self.context.prompt if line["role"] != "assistant")
        return "\n".join(str(line.get("content") or "") for line in lines)

    @cached_property
    def shown_texts(self) -> list[str]:
        """Return what the model was given to read except rules and persona."""
        lines = (line for line in self.context.prompt if line["role"] in {"user", "tool"})
        return [str(line.get("content") or "") for line in lines]

    @cached_property
    def talk(self) -> Talk:
        companion = self.context.companion
        messages = {message.pk: message for message in self.context.history}
        messages |= {message.pk: message for message in self.context.causes}
        return Talk(
            [
                Line(
                    message_id=pk,
                    speaker=(speaker := SPEAKERS[Message.Role(message.role)]),
                    name=companion.names[speaker],
                    text=message.text,
                    said_at=message.said_at.astimezone(companion.user.zone),
                )
                for pk, message in messages.items()
                if message.role in SPEAKERS
            ]
        )

    @cached_property
    def terms(self) -> frozenset[str]:
        free = (term for word in words_of("inner_life") for term in terms(word))
        return frozenset([*terms(self.text), *terms(" ".join(self.context.companion.names.values())), *free])

    def holds_names(self, sentence: str) -> bool:
        """Return whether each name, number and day of the sentence was shown."""
        names = self.context.companion.names.values()
        return bool(keep_grounded(sentence, self.talk, self.text, names, is_own=False))

    def holds_events(self, sentence: str) -> bool:
        """Return whether weather, tears or promises in the sentence were shown, in more than the persona."""
        return not is_made_up(sentence, self.talk, self.shown_texts, self.context.companion.names.values())

    def holds_things(self, sentence: str) -> bool:
        """Return whether the definite things in the sentence were shown, except those that it only compares with."""
        plain = pattern_of("likens").split(sentence, maxsplit=1)[0]
        for match in pattern_of("determined").finditer(plain):
            named = [term for words in match.groups() if words for term in terms(words)]
            if any(map(tells_something, named)) and self.terms.isdisjoint(named):
                return False
        return True


def split_grounded(context: ToolContext, text: str) -> tuple[str, list[str]]:
    """Return the text's grounded sentences, joined, and the list of the others, shortened."""
    shown = Shown(context)
    kept, left_out = [], []
    for sentence in cut_sentences(text):
        holds = (shown.holds_names, shown.holds_things, shown.holds_events)
        if not sentence.strip() or all(check(sentence) for check in holds):
            kept.append(sentence)
        else:
            left_out.append(shorten(sentence.strip(), MAX_TOLD_CHARACTERS))
    return "".join(kept).strip(), left_out

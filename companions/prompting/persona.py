"""Who the companion is, as its prompts have it: the texts of its character, and the lore that was met.

All of it stands in blocks of the persona, below Kith's rules, wherever in the prompt a card wishes it to be. Macros are
expanded here and in nothing that a person or a model said.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from companions.lore.entries import Place
from companions.lore.scan import Placed
from companions.models import Companion
from companions.prompting import budgets
from companions.prompting.tool_lines import Line
from providers.tokens import MESSAGE_TOKENS, estimate
from text.strings import block, neutral_beside, one_line

CARD_SEPARATOR = "<START>"  # between the examples of a character card
MANNER = (
    "in {name}'s own manner, in the language of what was just said, in four sentences at most, fewer where the persona"
    " is brief, and more only where more is asked for"
)
DIRECTIVE = "Answer as {name} now, with an emotion tag first"


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """A companion with the lore that was met, for one prompt.

    `seed` decides what its macros of chance give, and `now` is in its person's zone. Without `has_examples` its example
    dialogue is left out.
    """

    companion: Companion
    lore: Sequence[Placed] = ()
    now: datetime | None = None
    seed: int = 0
    has_examples: bool = True

    def expand(self, text: str, original: str = "") -> str:
        """Return the text as it may stand in a prompt: its macros expanded, and no block of Kith's in it."""
        expanded = self.companion.expand(text, now=self.now, seed=self.seed, original=original)
        return neutral_beside(expanded).strip()

    def render(self) -> str:
        """Return the persona's block: instructions, description, personality and scenario, with the lore at each."""
        companion = self.companion
        scenario = self.expand(companion.scenario)
        parts = [
            self.expand(companion.system_prompt),  # Kith's rules stand above it, whatever it says
            *self._lore_at("before_desc"),
            self.expand(companion.persona),
            *self._lore_at("after_desc"),
            self.expand(companion.personality),
            *self._lore_at("personality"),
            f"Scenario: {scenario}" if scenario else "",
            *self._lore_at("scenario"),
        ]
        return "\n".join(["<kith-persona>", "\n\n".join(filter(None, parts)), "</kith-persona>"])

    def render_examples(self) -> str:
        """Return the example dialogue, as many of its first lines as have room, with the lore before and after it.

        Lore has its own budget, and stays where the dialogue is left out.
        """
        companion, lines = self.companion, list[str]()
        left = budgets.share(budgets.EXAMPLES) if self.has_examples else 0
        said = (line.strip() for line in companion.example_dialogue.splitlines())
        dialogue = "\n".join("" if line.upper() == CARD_SEPARATOR else line for line in said)
        for line in self.expand(dialogue).splitlines():
            left -= estimate(line)
            if left < 0:
                break
            lines.append(line.strip())
        if any(lines):
            lines.insert(0, "How you speak, by examples. Nothing of this has happened.")
        parts = ["\n".join(lines) if any(lines) else "", *self._lore_at("after_examples")]
        written = "\n\n".join(filter(None, [*self._lore_at("before_examples"), *parts]))
        return block("examples", written.splitlines())

    @property
    def notes(self) -> list[tuple[int, str, str]]:
        """Return what stands within the talk, in its order: after how many messages from the newest, in which role, and
        the text. The companion's own note comes last at its depth.
        """
        notes: list[tuple[int, str, str]] = [
            (placed.depth or 0, placed.role, text)
            for placed in self.lore
            if placed.place == "depth" and (text := self.expand(placed.content))
        ]
        companion = self.companion
        if text := self.expand(companion.depth_prompt):
            notes.append((companion.depth_prompt_depth, companion.depth_prompt_role, text))
        return notes

    def render_notes(self, messages: int) -> dict[int, list[Line]]:
        """Return the notes of a talk of so many messages, by how many of these stand after them.

        What would stand before the oldest stands at its place. Instructions come as a block in the person's turn, for
        many templates know no system message but the first; and what is said last stays the person's.
        """
        lines: dict[int, list[Line]] = {}
        for place, role, text in self.notes:
            depth = min(max(place, 0), messages)
            is_own = role == Companion.DepthRole.ASSISTANT and depth > 0
            is_plain = is_own or role == Companion.DepthRole.USER
            content = text if is_plain else block("persona", text.splitlines())
            lines.setdefault(depth, []).append(
                {"role": "assistant" if is_own else "user", "content": content}
            )
        return lines

    def render_instructions(self) -> str:
        """Return what the companion is told last: its instructions after the talk, and Kith's directive.

        The instructions take the place of what Kith says of manner and length, which `{{original}}` brings back.
        """
        name = one_line(self.companion.nickname or self.companion.name)
        manner = MANNER.format(name=name)
        written = self.expand(self.companion.post_history_instructions, f"Answer {manner}.")
        directive = DIRECTIVE.format(name=name)
        parts = [
            block("persona", written.splitlines() if written else []),
            block("directive", [f"{directive}." if written else f"{directive}: {manner}."]),
        ]
        return "\n".join(filter(None, parts))

    @property
    def talk_tokens(self) -> int:
        """Return what its notes and its instructions take of the room for the talk."""
        notes = sum(estimate(text) + MESSAGE_TOKENS for _depth, _role, text in self.notes)
        return notes + estimate(self.render_instructions())

    def _lore_at(self, place: Place) -> list[str]:
        return [self.expand(placed.content) for placed in self.lore if placed.place == place]

"""The persona in a prompt: the texts of the companion's character, and the lore entries that matched.

All of it goes into persona blocks, below Kith's rules, at the place that the card asks for. Macros are expanded in
these texts, and never in what a person or a model said.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from companions.lore.rules.entries import Place
from companions.lore.rules.scan import Placed
from companions.models import Companion
from companions.prompting import budgets
from companions.prompting.history import Line
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
    """A companion with the lore that matched, for one prompt.

    `seed` decides the macros that choose at random; `now` is in the user's zone. If not `has_examples`, the example
    dialogue is left out.
    """

    companion: Companion
    lore: Sequence[Placed] = ()
    now: datetime | None = None
    seed: int = 0
    has_examples: bool = True

    def expand(self, text: str, original: str = "") -> str:
        """Return the text for a prompt: its macros expanded, and marks of Kith's blocks in it neutralised."""
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
        """Return the first lines of the example dialogue that fit the budget, with the lore before and after it.

        Lore has a budget of its own, and stays even if the dialogue is left out.
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
        """The notes to insert into the talk, each as depth (how many messages follow it), role and text.

        The companion's own note comes after lore of the same depth.
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
        """Return the notes of a talk of so many `messages`, by how many of these follow them.

        A note deeper than the talk goes before the oldest message. Instructions are sent as a block in the user role,
        since many chat templates allow a system message only at the start. So is a note in the companion's role at
        depth 0, since the last message must be the user's.
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
        """Return what the companion is told last: its post-history instructions, and Kith's directive.

        The instructions replace Kith's own words on manner and length, unless they include them with `{{original}}`.
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
    def note_tokens(self) -> int:
        return sum(estimate(text) + MESSAGE_TOKENS for _depth, _role, text in self.notes)

    @property
    def talk_tokens(self) -> int:
        """How many tokens the notes and the instructions take of the room for the talk."""
        return self.note_tokens + estimate(self.render_instructions())

    def _lore_at(self, place: Place) -> list[str]:
        return [self.expand(placed.content) for placed in self.lore if placed.place == place]

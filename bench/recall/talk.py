"""What two people said over some months, and what is asked about it, whatever file it came from."""

from dataclasses import dataclass
from datetime import datetime, timedelta

# Named as in LoCoMo's own paper (Maharana and others, 2024); other papers permute the names.
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ASKED_AFTER = timedelta(days=1)


@dataclass(frozen=True)
class Turn:
    """One thing said; `id` is D, the session's number, a colon and the turn's, as in "D1:3"."""

    id: str
    is_users: bool
    text: str
    at: datetime


@dataclass(frozen=True)
class Question:
    """A question, and the ids of the turns that hold its answer; never none."""

    text: str
    category: int
    evidence: frozenset[str]

    @property
    def category_name(self) -> str:
        return CATEGORIES.get(self.category, f"category {self.category}")


@dataclass(frozen=True)
class Talk:
    """All sessions between somebody (`user`) and the one who will be their companion, and the questions that count."""

    name: str
    user: str
    companion: str
    sessions: list[list[Turn]]
    questions: list[Question]

    @property
    def turns(self) -> list[Turn]:
        """The turns of all sessions, in their order."""
        return [turn for session in self.sessions for turn in session]

    @property
    def asked_at(self) -> datetime:
        """When the questions are asked: a day after the last word."""
        return max(turn.at for turn in self.turns) + ASKED_AFTER

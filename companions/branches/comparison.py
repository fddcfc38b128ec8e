"""Two branches side by side: where they part, and what was said on each since."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from companions.conversations.messages import load_path
from companions.models import Branch, Conversation, Message

MAX_PATH = 2_000  # messages that are walked back to where they part
MAX_COMPARED = 200  # messages of each that are shown, the first since then


@dataclass(frozen=True, slots=True)
class ComparedBranches:
    """The last message that both have, and what was said since: there, and on the chosen branch."""

    common: Message | None
    there: Sequence[Message]
    here: Sequence[Message]


def compare_branches(conversation: Conversation, branch: Branch) -> ComparedBranches:
    """Compare the branch with the chosen one, of which nothing is asleep."""
    theirs = load_path(conversation, branch.head_id, MAX_PATH)
    mine = load_path(conversation, conversation.head_id, MAX_PATH)
    common = next((message for message in theirs if not message.is_asleep), None)

    def since(path: Sequence[Message]) -> list[Message]:
        return list(takewhile(lambda message: message != common, path))[::-1][:MAX_COMPARED]

    return ComparedBranches(common, since(theirs), since(mine))

"""Two branches side by side: where they part, and what was said on each since."""

from collections.abc import Sequence
from dataclasses import dataclass

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
    """Compare the branch with the chosen one."""
    theirs = load_path(conversation, branch.head_id, MAX_PATH)
    mine = load_path(conversation, conversation.head_id, MAX_PATH)
    ids = {message.pk for message in mine}
    common = next((message for message in theirs if message.pk in ids), None)

    def since(path: Sequence[Message]) -> list[Message]:
        places = [place for place, message in enumerate(path) if message == common]
        return list(path[: places[0] if places else len(path)])[::-1][:MAX_COMPARED]

    return ComparedBranches(common, since(theirs), since(mine))

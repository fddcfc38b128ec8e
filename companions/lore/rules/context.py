"""The context of a scan (talk, persona, earlier firings), the reason of a match, the state of timed rules. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from companions.lore.rules.entries import Entry


@dataclass(frozen=True, slots=True)
class ScanContext:
    """A talk at one moment with everything else that entries are matched against, before the prompt is cut to size."""

    messages: Sequence[tuple[str, str]]  # role and text, oldest first, including what was just said
    assistant_messages: int  # on the branch
    message_count: int  # on the branch
    chance: Callable[[str], float]  # in [0, 1), by an entry's key, or "group:" and a group's name
    estimate: Callable[[str], int]  # a text's tokens
    budget: int  # tokens, for all books together
    greeting: int | None = None  # the active one, 0 is the card's first message
    # By an entry's key, the message counts at which it fired.
    fired_before: Mapping[str, Sequence[int]] = field(default_factory=dict)
    expand: Callable[[str], str] = str  # expands macros in keys
    persona: str = ""
    description: str = ""
    personality: str = ""
    depth_prompt: str = ""
    scenario: str = ""
    creator_notes: str = ""
    character_name: str = ""
    character_tags: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an entry matches. `asdict` makes JSON of it.

    `code` is `key`, `recursion` (a key in another entry's content), `constant`, `sticky`, `kept` or `activate`.
    """

    code: str
    key: str = ""
    message: int | None = None  # counted back from the newest, which is 0
    source: str = ""  # the part of the persona that has the key
    entry: str = ""  # key of the entry whose content has the key


@dataclass(frozen=True, slots=True)
class Timing:
    """The state of one entry's timed rules, which count messages after the one at which it fired."""

    has_fired: bool
    is_sticky: bool
    is_cooling: bool


def read_timing(entry: Entry, context: ScanContext) -> Timing:
    """Return the state of the entry's timed rules at the current message.

    Firings at this message or later do not count: they belong to a reply that is being made again. A firing while an
    earlier effect lasts does not extend it.
    """
    now = context.message_count
    counts = sorted(count for count in context.fired_before.get(entry.key, ()) if count < now)
    start: int | None = None
    for count in counts:
        if start is None or count > start + entry.sticky + entry.cooldown:
            start = count
    if start is None:
        return Timing(has_fired=False, is_sticky=False, is_cooling=False)
    is_sticky = now <= start + entry.sticky
    return Timing(
        has_fired=True,
        is_sticky=is_sticky,
        is_cooling=not is_sticky and now <= start + entry.sticky + entry.cooldown,
    )

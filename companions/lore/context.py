"""What a scan reads besides the entries, and why an entry matches: the talk, the persona, what fired before. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from companions.lore.entries import Entry


@dataclass(frozen=True, slots=True)
class Context:
    """One talk at one moment, as it goes into the prompt before anything is cut from it."""

    messages: Sequence[tuple[str, str]]  # role and text, the oldest first, with what was just said
    assistant_messages: int  # of the branch
    message_count: int  # of the branch
    chance: Callable[[str], float]  # from 0 up to 1, by an entry's key, or "group:" and a group's name
    estimate: Callable[[str], int]  # tokens
    budget: int  # tokens, for all books together
    greeting: int | None = None  # the active one, 0 is the card's first message
    # Message counts, by an entry's key.
    fired_before: Mapping[str, Sequence[int]] = field(default_factory=dict)
    expand: Callable[[str], str] = str  # of macros in keys
    persona: str = ""
    description: str = ""
    personality: str = ""
    depth_prompt: str = ""
    scenario: str = ""
    creator_notes: str = ""
    trigger: str = "normal"  # what asks for the reply, in SillyTavern's words
    character_name: str = ""
    character_tags: Sequence[str] = ()
    user_icon: str | None = None  # its name, "" for none; None where there are no such icons


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an entry matches; `asdict` makes JSON of it.

    `code` is `key`, `recursion` (a key in what another entry says), `constant`, `sticky`, `kept` or `activate`.
    """

    code: str
    key: str = ""
    message: int | None = None  # from the newest, which is 0
    source: str = ""  # of the persona's parts
    entry: str = ""  # whose content has the key


@dataclass(frozen=True, slots=True)
class Timing:
    """What the timed rules of one entry say now, counted in messages after the one at which it fired."""

    has_fired: bool
    is_sticky: bool
    is_cooling: bool


def read_timing(entry: Entry, context: Context) -> Timing:
    """Return the timing at this message.

    What fired at this message or later was for a reply that is made again, and does not count. What fired while an
    earlier effect went on does not make that longer.
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

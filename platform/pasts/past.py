"""What a file of earlier talk holds, whatever program wrote it: one or many pasts, each a tree of messages.

Nothing of Django is imported here, nor in what this imports: the sandbox reads by it.
"""

from dataclasses import dataclass
from datetime import datetime

MAX_BYTES = 100_000_000
MAX_MESSAGES = 200_000  # of all pasts in one file
MAX_CHARACTERS = 100_000  # of one message
MAX_NAME = 200  # of a speaker, and of a title
MAX_ID = 100
MAX_TEMPLATE = 200  # of a pattern of plain text
FORMS = ("sillytavern", "chatgpt", "character_ai", "risuai", "koboldai", "oobabooga", "text")


class PastFormatError(Exception):
    """The file holds no talk that is known, or costs more than one may; `reader.py` has a sentence for each code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class PastMessage:
    """One thing said. Siblings, messages of one parent, are alternatives: swipes, or ChatGPT's branches."""

    id: str  # unique within its past; the same when the same file is read again
    parent: str | None  # the message that it follows
    speaker: str  # as the file names them; may be empty
    is_person: bool  # else the character said it
    text: str
    at: datetime | None  # in UTC; None where the file tells no time


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """One talk. `leaf` is the last message of the path that was chosen; each message stands after its parent."""

    title: str
    messages: tuple[PastMessage, ...]
    leaf: str | None
    id: str = ""  # what the file itself calls the talk; empty where it has no name for it


@dataclass(frozen=True, slots=True, kw_only=True)
class PastFile:
    """All that was read of a file. `remarks` are keys of `reader.REMARKS`: what was left out, or guessed. By the template
    `pattern` plain text was read.
    """

    form: str  # one of FORMS
    pasts: tuple[Past, ...]
    remarks: tuple[str, ...]
    pattern: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPattern:
    r"""How plain text tells who speaks: the beginning of a message, as `[{date}] {name}: {text}`.

    `{name}` and `{text}` have to be in it, `{date}` may; something must stand between them, and `{text}` comes last.
    Where what is said begins on the next line, `\n` stands before it.

    `day_first` says how 1/2/2024 is meant; None: as the file's other dates have it.
    """

    template: str
    day_first: bool | None = None


# Those that are tried where no pattern is given, in this order.
PATTERNS = (
    TextPattern(template="[{date}] {name}: {text}"),  # WhatsApp on an iPhone, among others
    TextPattern(template="{date} - {name}: {text}"),  # WhatsApp on Android
    TextPattern(template="{date} {name}: {text}"),
    TextPattern(template="[{date}] <{name}> {text}"),
    TextPattern(template="{name} [{date}]: {text}"),
    TextPattern(template="{name} ({date}): {text}"),
    TextPattern(template="{date} {name}\n{text}"),
    TextPattern(template="{name} {date}\n{text}"),
    TextPattern(template="--{name}\n{text}"),  # RisuAI
    TextPattern(template="<{name}> {text}"),
    TextPattern(template="{name}: {text}"),
)

"""The content of a file of earlier talk, whatever program wrote it: one or more pasts, each a tree of messages.

Neither this module nor what it imports may import Django: it runs in the sandbox.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

MAX_BYTES = 100_000_000
MAX_MESSAGES = 200_000  # of all pasts in one file
MAX_CHARACTERS = 100_000  # of one message
MAX_NAME = 200  # of a speaker, and of a title
MAX_ID = 100
MAX_TEMPLATE = 200  # of a pattern for plain text
FormName = Literal[
    "sillytavern", "chatgpt", "claude", "deepseek", "character_ai", "risuai", "koboldai", "oobabooga", "text"
]
FORMS: tuple[str, ...] = get_args(FormName)


class PastFormatError(Exception):
    """The file has no known form of talk, or exceeds a limit; `reader.py` has a sentence for each `code`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class PastMessage:
    """One message. Messages with the same parent are alternatives: swipes, or ChatGPT's branches."""

    id: str  # unique within its past; the same whenever the same file is read
    parent: str | None  # id of the message that it follows
    speaker: str  # as the file names them; may be empty
    is_person: bool  # otherwise it is the character's
    text: str
    at: datetime | None  # in UTC; None if the file has no time for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """One talk. `leaf` is the id of the last message of the chosen path; each message comes after its parent."""

    title: str
    messages: tuple[PastMessage, ...]
    leaf: str | None
    id: str = ""  # the file's own id for the talk; empty if it has none


@dataclass(frozen=True, slots=True, kw_only=True)
class PastFile:
    """All that was read from a file. `remarks` are keys of `reader.REMARKS`: what was left out or guessed. `pattern` is
    the template with which plain text was read.
    """

    form: str  # one of FORMS
    pasts: tuple[Past, ...]
    remarks: tuple[str, ...]
    pattern: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPattern:
    r"""How a message begins in plain text, e.g. `[{date}] {name}: {text}`.

    `{name}` and `{text}` are required, `{date}` is optional; they must be separated, and `{text}` comes last. `\n`
    before `{text}` means that the text begins on the next line.

    `day_first` says whether 1/2/2024 is the first of February; with None the file's other dates decide.
    """

    template: str
    day_first: bool | None = None


# The patterns that are tried, in this order, if none is given.
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

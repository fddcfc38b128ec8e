"""Files of earlier talk that people upload, from SillyTavern, ChatGPT, Claude, DeepSeek, Character.AI, RisuAI, KoboldAI
Lite and text-generation-webui, and plain text.

They are parsed in a process of their own, whose answer is validated again here: a file that took the process over could
make it answer anything.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta, tzinfo
from io import BytesIO
from threading import BoundedSemaphore
from typing import Any

import orjson
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from files.errors import BusyError, FilesError
from jobs.sandbox import SandboxError, module_command, run_in_sandbox
from pasts.formats import is_plain_text, looks_like_past
from pasts.past import (
    FORMS,
    MAX_BYTES,
    MAX_CHARACTERS,
    MAX_ID,
    MAX_MESSAGES,
    MAX_NAME,
    MAX_TEMPLATE,
    Past,
    PastFile,
    PastMessage,
    TextPattern,
)
from pasts.times import EPOCH, FIRST_YEAR, LAST_YEAR

__all__ = [
    "REFUSALS",
    "REMARKS",
    "PastError",
    "choose_person",
    "is_plain_text",
    "looks_like_past",
    "read_past",
]

TIMEOUT_SECONDS = 60.0  # for a free place, and again for the process (at most ten seconds of CPU time)
COMMAND = module_command("pasts.child")
READ_AT_ONCE = BoundedSemaphore(1)  # per process of Kith: a read may take 256 MB, and its answer as much here
REFUSALS: dict[str, str | Promise] = {
    "no_past": _(
        "There is no talk in this file that Kith can read. Send a chat from SillyTavern (.jsonl), the export of ChatGPT,"
        " Claude or DeepSeek, a chat from Character.AI, RisuAI or text-generation-webui, a story from KoboldAI Lite, or"
        " plain text."
    ),
    "no_messages": _("There are no messages in this file. Export the talk again, or choose another file."),
    "no_speakers": _(
        "Nobody speaks in this story from KoboldAI Lite: neither marks nor names show who says what. Only a chat, an"
        " adventure or a story in instruct mode can be remembered."
    ),
    "unreadable": _("This file cannot be read safely. Export the talk again from the program it came from."),
    "broken_json": _("The file's JSON is broken or incomplete. Export the talk again."),
    "broken_zip": _("This ZIP is broken or incomplete. Download it again."),
    "encrypted_zip": _("This ZIP is protected by a password. Unpack it, and send the file that is in it."),
    "other_archive": _("This is a RAR or 7z archive. Unpack it, and send the file that is in it."),
    "too_many_files": _(
        "This ZIP has too many files in it to look through. Unpack it, and send only conversations.json."
    ),
    "too_deep": _("The file's JSON is nested deeper than any talk needs, so it is not read."),
    "too_many_messages": _(
        "A file can have at most 200,000 messages. Export fewer talks at once, and send them one after the other."
    ),
    "message_too_long": _(
        "A message in this file has more than 100,000 characters. Shorten it, or leave it out, and send the file again."
    ),
    "wrong_encoding": _("This text is not in UTF-8. Save it as UTF-8, and send it again."),
    "pattern_other_part": _(
        "The only things the pattern may have in curly brackets are {date}, {name} and {text}. Write everything else as"
        " it is in the file."
    ),
    "pattern_part_twice": _("Each of {date}, {name} and {text} may appear in the pattern only once."),
    "pattern_parts_touch": _(
        "The pattern needs something between {date}, {name} and {text}, like the colon in “{name}: {text}”. Otherwise"
        " there is no telling where one ends."
    ),
    "pattern_text_not_last": _("{text} has to come last in the pattern, with nothing after it."),
    "pattern_too_long": _(
        "A pattern can have at most 200 characters. It needs only the beginning of a message."
    ),
    "pattern_unmatched": _(
        "No line in this file begins as the pattern says. Compare it with the file’s lines character by character;"
        " spaces count, too."
    ),
    "pattern_without_name": _("{name} is missing from the pattern. Write it where the speaker’s name is."),
    "pattern_without_text": _("{text} is missing from the pattern. Write it where the words begin."),
    "no_such_speaker": _("Nobody by that name speaks in this file. Choose somebody who does."),
    "too_large": _(
        "A file can have at most 100 MB, and a single message much less. Export fewer talks at once."
    ),
}
REMARKS: dict[str, str | Promise] = {
    "citations_left_out": _("Citation marks for web sources in answers were left out."),
    "dates_guessed": _(
        "Days and months can be read either way in this file. Check that the dates are right."
    ),
    "empty_left_out": _("Talks without a message were left out."),
    "files_left_out": _("Pictures, sound and other files were left out. Kith takes over only what was said."),
    "greeting_missing": _(
        "RisuAI keeps a character's first message with the character, so it is not in this file."
    ),
    "hidden_left_out": _("Messages that the program itself did not show were left out."),
    "lines_left_out": _("Some lines could not be read, or do not belong to any message. They were left out."),
    "person_guessed": _("The file does not say which speaker is you. Check that the right one is chosen."),
    "reasoning_left_out": _("The model's hidden reasoning was left out."),
    "speakers_guessed": _(
        "Some lines begin with a word and a colon that appear only once in the file. They were taken as part of the"
        " message before them."
    ),
    "system_left_out": _("Notices and instructions from the program were left out."),
    "text_cleaned": _("Some characters cannot be stored. They were left out or replaced."),
    "times_local": _("The times in the file have no time zone. They were taken to be in yours."),
    "times_missing": _("Some messages have no time in this file."),
    "tools_left_out": _("What was exchanged with tools, such as searches and programs, was left out."),
    "tree_mended": _("Some messages follow one that is missing. Each begins a branch of its own."),
}


class PastError(FilesError):
    """A file is refused: `code` is a key of REFUSALS, `detail` the sentence for it."""

    def __init__(self, code: object) -> None:
        known = code if isinstance(code, str) and code in REFUSALS else "unreadable"
        super().__init__(known, REFUSALS[known], 413 if known == "too_large" else None)


def read_past(
    content: bytes,
    pattern: TextPattern | None = None,
    *,
    zone: tzinfo = UTC,
    command: Sequence[str] = COMMAND,
    wait_seconds: float = TIMEOUT_SECONDS,
) -> PastFile:
    """Return the pasts in a file whose form is recognised by its content. Blocks the calling thread.

    With `pattern` it is read as plain text. Times without a zone are taken to be in `zone`. The file says who the person
    is; in plain text it is a speaker called "you" or {{user}}, otherwise the first, unless `choose_person` corrects it.
    Raise PastError or BusyError.
    """
    if len(content) > MAX_BYTES:
        raise PastError("too_large")
    if not READ_AT_ONCE.acquire(timeout=wait_seconds):
        raise BusyError("busy", _("Kith is reading other files right now. Try again in a moment."))
    try:
        arguments = [json.dumps(asdict(pattern))] if pattern else []
        head, body = run_in_sandbox([*command, *arguments], content, wait_seconds)
    except SandboxError:
        raise PastError("unreadable") from None
    finally:
        READ_AT_ONCE.release()
    if "code" in head:
        raise PastError(head["code"])
    try:
        return read_answer(head, body, zone)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise PastError("unreadable") from None


def choose_person(file: PastFile, speaker: str) -> PastFile:
    """Return the file with `speaker` as the person, the others as the character. Raise PastError `no_such_speaker`."""
    if not any(message.speaker == speaker for past in file.pasts for message in past.messages):
        raise PastError("no_such_speaker")
    pasts = tuple(
        replace(
            past,
            messages=tuple(
                replace(message, is_person=message.speaker == speaker) for message in past.messages
            ),
        )
        for past in file.pasts
    )
    return replace(
        file, pasts=pasts, remarks=tuple(code for code in file.remarks if code != "person_guessed")
    )


def read_answer(head: dict[str, Any], body: bytes, zone: tzinfo) -> PastFile:
    """Return the pasts in the sandbox's answer. Raise KeyError, TypeError, ValueError, OverflowError if malformed."""
    if head["form"] not in FORMS:
        raise ValueError(head["form"])
    pasts: list[Past] = []
    messages: dict[str, PastMessage] = {}
    names: dict[str, str] = {}  # interns a speaker's name for all their messages
    remarks = {code for code in head["remarks"] if code in REMARKS}
    count = 0
    for line in BytesIO(body):
        fields = orjson.loads(line)
        if len(fields) == 3:
            title, id, leaf = fields
            if not messages or leaf not in messages:
                raise ValueError(leaf)
            pasts.append(
                Past(
                    title=_check(title, MAX_NAME),
                    messages=tuple(messages.values()),
                    leaf=leaf,
                    id=_check(id, MAX_ID),
                )
            )
            messages = {}
            continue
        id, parent, speaker, is_person, text, at = fields
        count += 1
        is_known = parent is None or parent in messages
        if count > MAX_MESSAGES or id in messages or not is_known or not isinstance(is_person, bool):
            raise ValueError(id)
        if isinstance(at, str):
            remarks.add("times_local")
        messages[_check(id, MAX_ID)] = PastMessage(
            id=id,
            parent=messages[parent].id if parent is not None else None,
            speaker=names.setdefault(_check(speaker, MAX_NAME), speaker),
            is_person=is_person,
            text=_check(text, MAX_CHARACTERS),
            at=_read_time(at, zone),
        )
    if messages or not pasts:
        raise ValueError("no end")
    return PastFile(
        form=head["form"],
        pasts=tuple(pasts),
        remarks=tuple(sorted(remarks)),
        pattern=_check(head.get("pattern", ""), MAX_TEMPLATE),
    )


def _check(value: object, longest: int) -> str:
    if isinstance(value, str) and len(value) <= longest and "\0" not in value:
        return value
    raise ValueError(value)


def _read_time(value: object, zone: tzinfo) -> datetime | None:
    """Return the time in UTC; if it has no time zone, it is taken to be in `zone`."""
    if value is None:
        return None
    if isinstance(value, str):
        at = datetime.fromisoformat(value)
        at = (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)
    elif isinstance(value, int) and not isinstance(value, bool):
        at = EPOCH + timedelta(microseconds=value)
    else:
        raise TypeError(value)
    if not FIRST_YEAR - 1 <= at.year <= LAST_YEAR + 1:
        raise ValueError(value)
    return at

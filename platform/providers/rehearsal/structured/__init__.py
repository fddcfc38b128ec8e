"""What the rehearsal model answers where a form is asked for: drawn from the blocks that it is given, word for word.

reading    the blocks of a request
sentences  what was said, sentence by sentence, and how much each tells
feelings   joy, aversion and emotions by their words
learning   what is to be kept, with a verdict against what is known
digest     the answer about a batch
ending     the answer about a whole session
gists      the answer about pages
night      the answer about a day's memories
reflection the answer about an inner state
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from providers.rehearsal.scene import plain
from providers.rehearsal.structured import digest, ending, gists, night, reflection
from providers.rehearsal.structured.reading import Material, read

TASK = re.compile(r"\ATask: (\w+)")
TASKS: dict[str, Callable[[Material], dict[str, Any]]] = {
    "digest": digest.answer,
    "ending": ending.answer,
    "gists": gists.answer,
    "night": night.answer,
    "reflection": reflection.answer,
}


def task_of(body: Mapping[str, Any]) -> str:
    """What a request asks a form for, by its schema's name or by how its system message begins; empty for a talk."""
    form = body.get("response_format")
    schema = form.get("json_schema") if isinstance(form, dict) else None
    if isinstance(schema, dict):
        return str(schema.get("name") or "")
    first: Mapping[str, Any] = next(iter(body.get("messages") or ()), {})
    named = TASK.match(plain(first.get("content"))) if first.get("role") == "system" else None
    return named[1] if named and named[1] in TASKS else ""


def material_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """The whole last message of the user."""
    sent = [plain(message.get("content")) for message in messages if message.get("role") == "user"]
    return sent[-1] if sent else ""


def form(task: str, messages: Sequence[Mapping[str, Any]]) -> str:
    """The answer to a task, as JSON."""
    return json.dumps(TASKS[task](read(material_of(messages))), ensure_ascii=False)

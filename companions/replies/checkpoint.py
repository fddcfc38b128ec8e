"""The content of a reply while it is made: saved with its lease as it streams, and read back if its process died."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from companions.models import Reply
from companions.replies.lifecycle import process_name
from companions.replies.streams import Place, seal_stream, take_unbroken
from database.queries import fetch_ids

# Saves all replies of a process at once: one by one, 200 replies delay its streams by a third of a second. The
# parameters are sent in binary (%b): quoting the texts took as long again.
CHECKPOINT = """
UPDATE companions_reply reply
SET lease_at = %(now)s, text = said.text, thought = said.thought, seq = said.seq,
    tool_calls = said.calls::jsonb, emotions = said.felt::jsonb,
    state = CASE said.text WHEN '' THEN reply.state ELSE 'streaming' END
FROM unnest(%(ids)b::uuid[], %(texts)b::text[], %(thoughts)b::text[], %(seqs)b::int[], %(calls)b::text[],
            %(felt)b::text[])
  AS said (id, text, thought, seq, calls, felt)
WHERE reply.id = said.id AND reply.lease_by = %(process)s AND reply.state IN ('thinking', 'streaming')
RETURNING reply.id
"""


@dataclass(slots=True)
class Said:
    """The content of a reply so far: text, reasoning, number of its last piece, tool calls, emotions, error code."""

    text: str = ""
    thought: str = ""
    seq: int = 0
    tool_calls: list[dict[str, object]] = field(default_factory=list)
    emotions: list[dict[str, object]] = field(default_factory=list)
    code: str = ""


def seal_and_read(reply: Reply) -> Said:
    """Seal the reply's stream, so that no piece can be added; return the row's content plus what the stream has."""
    said = Said(reply.text, reply.thought, reply.seq, reply.tool_calls, reply.emotions)
    for entry in take_unbroken(seal_stream(reply.pk, Place(reply.seq)), reply.seq):
        frame = orjson.loads(entry.json)
        if frame["type"] == "reply.started":  # sent again when what was said has been retracted
            said.text = frame["text"]
            said.emotions = [felt for felt in said.emotions if int(str(felt["at"])) < len(said.text)]
        elif frame["type"] == "reply.piece":
            said.text += frame["text"]
        elif frame["type"] == "reply.thought":
            said.thought += frame["text"]
        elif frame["type"] == "reply.emotion":
            felt = {name: frame[name] for name in ("at", "emotion", "intensity")}
            if felt not in said.emotions:
                said.emotions.append(felt)
        said.seq = max(said.seq, entry.seq)
    return said


def save_progress(saying: Mapping[UUID, Said], now: datetime) -> set[UUID]:
    """Renew the leases of the replies and save their content so far; return the ids of those this process still holds."""
    replies = saying.values()
    parameters: dict[str, Any] = {
        "process": process_name(),
        "now": now,
        "ids": list(saying),
        "seqs": [said.seq for said in replies],
        "texts": [said.text for said in replies],
        "thoughts": [said.thought for said in replies],
        "calls": [orjson.dumps(said.tool_calls).decode() for said in replies],
        "felt": [orjson.dumps(said.emotions).decode() for said in replies],
    }
    return {*fetch_ids(CHECKPOINT, parameters)}

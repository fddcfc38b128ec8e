"""Reading what strangers send, in a process of its own that a hostile file may at most end."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from providers.sound.errors import CODES, SoundError
from providers.sound.kinds import kind_of
from providers.sound.plain import plain
from providers.sound.sound import Sound

SOURCE_ROOT = Path(__file__).resolve().parents[2]
MOST_WAIT_SECONDS = 30.0
COMMAND = (sys.executable, "-m", "providers.sound.child")
MOST_HEAD_BYTES = 4_096


def read_apart(
    content: bytes,
    most_seconds: float,
    *,
    command: Sequence[str] = COMMAND,
    wait_seconds: float = MOST_WAIT_SECONDS,
) -> Sound:
    """As reading.read, in a child process of bounded memory and time; the calling thread waits for it.

    A plain WAV is read here: no decoder has a part in that. A child that dies or hangs is SoundError `no_sound`.
    """
    if not content:
        raise SoundError("empty")
    if (sound := plain(content, most_seconds)) is not None:
        return sound
    if not kind_of(content):
        raise SoundError("no_sound", "no container of sound")
    with tempfile.TemporaryFile() as answer:  # a file and no pipe: the child can write no more than its limit
        try:
            subprocess.run(  # noqa: S603
                [*command, str(most_seconds)],
                input=content,
                stdout=answer,
                stderr=subprocess.DEVNULL,
                env={"PYTHONPATH": str(SOURCE_ROOT)},  # nothing of this process's secrets
                timeout=wait_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise SoundError("no_sound", "reading took too long") from None
        answer.seek(0)
        return _told(answer.readline(MOST_HEAD_BYTES), answer.read(), most_seconds)


def _told(head: bytes, data: bytes, most_seconds: float) -> Sound:
    """What the child wrote, which is not believed either: whoever took it over would write it."""
    try:
        told = json.loads(head)
        if told.get("code") in CODES:
            raise SoundError(told["code"], str(told.get("said", ""))[:500])
        sound = Sound(np.frombuffer(data, dtype=np.int16), int(told["rate"]))
        if not sound.rate > 0 or not 0 < sound.seconds <= most_seconds:
            raise ValueError("no length")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SoundError("no_sound", "the reading process died") from None
    return sound

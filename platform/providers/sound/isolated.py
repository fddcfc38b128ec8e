"""Reading what strangers send, in a process of its own that a hostile file may at most end."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from jobs.sandbox import SANDBOX_TIMEOUT_SECONDS, SandboxError, module_command, run_in_sandbox
from providers.sound.errors import SENTENCES, SoundError
from providers.sound.sound import Sound
from providers.sound.wav import detect_container, read_plain_wav

COMMAND = module_command("providers.sound.isolated_child")


def read_isolated(
    content: bytes,
    max_seconds: float,
    *,
    command: Sequence[str] = COMMAND,
    timeout_seconds: float = SANDBOX_TIMEOUT_SECONDS,
) -> Sound:
    """Read as `decoding.read`, in a child process of bounded memory and time; the calling thread waits for it.

    A plain WAV is read here: no decoder has a part in that. A child that dies or hangs is SoundError `no_sound`.
    """
    if not content:
        raise SoundError("empty")
    if (sound := read_plain_wav(content, max_seconds)) is not None:
        return sound
    if not detect_container(content):
        raise SoundError("no_sound", "no container of sound")
    try:
        head, samples = run_in_sandbox([*command, str(max_seconds)], content, timeout_seconds)
    except SandboxError as error:
        raise SoundError("no_sound", str(error)) from None
    return _check(head, samples, max_seconds)


def _check(head: dict[str, Any], samples: bytes, max_seconds: float) -> Sound:
    """Return the sound that the child wrote, which is not believed either: whoever took it over would write it."""
    if head.get("code") in SENTENCES:
        raise SoundError(head["code"], str(head.get("said", ""))[:500])
    try:
        sound = Sound(np.frombuffer(samples, dtype=np.int16), int(head["rate"]))
        if not sound.rate > 0 or not 0 < sound.seconds <= max_seconds:
            raise ValueError("no length")
    except (ValueError, KeyError, TypeError):
        raise SoundError("no_sound", "the reading process died") from None
    return sound

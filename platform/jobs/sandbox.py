"""The sandbox for untrusted files: a child process of limited memory and time, which a hostile file can at most kill.

The child answers with a line of JSON, and bytes after it. It imports nothing of Django, and of this package only
`confinement.py`.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from jobs.confinement import MAX_HEAD_BYTES

SOURCE_ROOT = Path(__file__).resolve().parents[1]
SANDBOX_TIMEOUT_SECONDS = 30.0
COPIED_BYTES = 1_000_000


class SandboxError(Exception):
    """The child died, took too long, or gave a malformed answer."""


def module_command(module: str) -> tuple[str, ...]:
    """Return the command that runs the module as the child."""
    return sys.executable, "-m", module


def run_in_sandbox(
    command: Sequence[str], content: bytes | IO[bytes], timeout_seconds: float = SANDBOX_TIMEOUT_SECONDS
) -> tuple[dict[str, Any], bytes]:
    """Run the command as the child, with `content` as its input; return the answer (head, body) or raise SandboxError.

    The answer is untrusted: a file that has taken the child over can write anything. The input is a file, in which the
    child may seek. The calling thread waits. Raise OSError if the disk of the temporary folder is full.
    """
    # The answer goes to a file instead of a pipe, so that the child's own limit (RLIMIT_FSIZE) holds for it.
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as answer:
        if isinstance(content, bytes):
            given.write(content)
        else:
            content.seek(0)
            shutil.copyfileobj(content, given, COPIED_BYTES)
        given.seek(0)
        try:
            child = subprocess.run(  # noqa: S603
                command,
                stdin=given,
                stdout=answer,
                stderr=subprocess.DEVNULL,
                env={"PYTHONPATH": str(SOURCE_ROOT)},  # none of this process's secrets
                timeout=timeout_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise SandboxError("reading took too long") from None
        answer.seek(0)
        try:
            head = json.loads(answer.readline(MAX_HEAD_BYTES))
        except ValueError:
            head = None
        if child.returncode or not isinstance(head, dict):
            answer.seek(0, os.SEEK_END)
            answer.write(bytes(COPIED_BYTES))
            answer.flush()  # OSError if it was for want of room that the child failed
            raise SandboxError("the reading process died")
        return head, answer.read()

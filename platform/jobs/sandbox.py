"""One sandbox for what strangers send: a child process of bounded memory and time that a hostile file may at most end.

The child answers with a line of JSON, and bytes after it. It imports nothing of Django.
"""

import contextlib
import json
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

SOURCE_ROOT = Path(__file__).resolve().parents[1]
SANDBOX_TIMEOUT_SECONDS = 30.0
MAX_HEAD_BYTES = 4_096
MAX_OPEN_FILES = 16
COPIED_BYTES = 1_000_000


class SandboxError(Exception):
    """The child died, took too long, or answered in no form."""


def module_command(module: str) -> tuple[str, ...]:
    """Return the command that runs a module as the child."""
    return sys.executable, "-m", module


def run_in_sandbox(
    command: Sequence[str], content: bytes | IO[bytes], timeout_seconds: float = SANDBOX_TIMEOUT_SECONDS
) -> tuple[dict[str, Any], bytes]:
    """Return what the child answered, which is not to be believed: whoever took it over would write it. SandboxError.

    Its input is a file, in which it may go to any place. The calling thread waits for it.
    """
    # For the answer a file and no pipe: the child can write no more than its limit.
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as answer:
        if isinstance(content, bytes):
            given.write(content)
        else:
            content.seek(0)
            shutil.copyfileobj(content, given, COPIED_BYTES)
        given.seek(0)
        try:
            subprocess.run(  # noqa: S603
                command,
                stdin=given,
                stdout=answer,
                stderr=subprocess.DEVNULL,
                env={"PYTHONPATH": str(SOURCE_ROOT)},  # nothing of this process's secrets
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
        if not isinstance(head, dict):
            raise SandboxError("the reading process died")
        return head, answer.read()


def limit_process(memory_bytes: int, cpu_seconds: int, written_bytes: int) -> None:
    """Let this process have no more than it needs, to its end."""
    for name, limit in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_FSIZE, written_bytes),
        (resource.RLIMIT_NOFILE, MAX_OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # macOS knows no limit of address space
            resource.setrlimit(name, (limit, limit))


def answer(head: dict[str, Any], body: bytes = b"") -> None:
    """Write the child's answer."""
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + body)


def begin_body() -> IO[bytes]:
    """Return what the child writes the answer's body to while it reads, before it knows the head."""
    sys.stdout.buffer.seek(MAX_HEAD_BYTES)
    return sys.stdout.buffer


def answer_with_body(head: dict[str, Any]) -> None:
    """Write the head before the body that was begun."""
    sys.stdout.buffer.seek(0)
    sys.stdout.buffer.write(json.dumps(head).encode().ljust(MAX_HEAD_BYTES - 1) + b"\n")


def answer_without_body(head: dict[str, Any]) -> None:
    """Write the head in place of whatever body was begun."""
    sys.stdout.buffer.seek(0)
    sys.stdout.buffer.truncate()
    answer(head)

"""The sandbox as its child sees it: the limits it sets itself, and its answer. It imports little: each file waits."""

import contextlib
import json
import resource
import sys
from typing import IO, Any

MAX_HEAD_BYTES = 4_096
MAX_OPEN_FILES = 16


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

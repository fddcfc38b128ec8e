"""The child's side of the sandbox: its limits and its answer. It imports little, since each file waits for that."""

import contextlib
import json
import resource
import sys
from typing import IO, Any

MAX_HEAD_BYTES = 4_096
MAX_OPEN_FILES = 16


def limit_process(memory_bytes: int, cpu_seconds: int, written_bytes: int) -> None:
    """Limit this process, until it ends, to so much address space, CPU time and size of written files."""
    for name, limit in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_FSIZE, written_bytes),
        (resource.RLIMIT_NOFILE, MAX_OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # macOS cannot limit the address space
            resource.setrlimit(name, (limit, limit))


def answer(head: dict[str, Any], body: bytes = b"") -> None:
    """Write the child's answer: the head as a line of JSON, then the body."""
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + body)


def begin_body() -> IO[bytes]:
    """Return the file to write the answer's body to before the head is known; `answer_with_body` adds the head."""
    sys.stdout.buffer.seek(MAX_HEAD_BYTES)
    return sys.stdout.buffer


def answer_with_body(head: dict[str, Any]) -> None:
    """Write the head in front of the body that `begin_body` began."""
    sys.stdout.buffer.seek(0)
    sys.stdout.buffer.write(json.dumps(head).encode().ljust(MAX_HEAD_BYTES - 1) + b"\n")


def answer_without_body(head: dict[str, Any]) -> None:
    """Discard the body that `begin_body` began, and answer with the head alone."""
    sys.stdout.buffer.seek(0)
    sys.stdout.buffer.truncate()
    answer(head)

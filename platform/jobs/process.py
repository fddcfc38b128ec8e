"""The name under which this process holds leases."""

import os
import secrets
import socket
from functools import cache


@cache
def _nonce(pid: int) -> str:
    return secrets.token_hex(4)


def process_name() -> str:
    """Host, process id and a nonce: never the same twice, even where a process id comes again."""
    return f"{socket.gethostname()[:40]}:{os.getpid()}:{_nonce(os.getpid())}"

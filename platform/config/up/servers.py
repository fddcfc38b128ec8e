"""The processes that make up Kith itself."""

import sys
from typing import Any

from config.up.ports import LOOPBACK
from config.up.processes import Program

QUEUES = "life,learn,embed,bulk,celery"
THREADS = 8
FRAME_BYTES = 1_000_000  # the longest message in its longest spelling is less than half of it
CLOSE_SECONDS = 3  # for connections to end
STOP_SECONDS = 15.0  # for those, and for replies to end or be written down as interrupted


def web_options(port: int) -> dict[str, Any]:
    """How uvicorn serves pages, API and sockets there, by the names of its settings."""
    return {
        "host": LOOPBACK,
        "port": port,
        "lifespan": "on",
        "http": "config.http_protocol:PatientProtocol",
        "ws": "websockets-sansio",
        "ws_max_size": FRAME_BYTES,
        "access_log": False,
        # Who asks is told by the proxies that KITH_PROXIES counts; else everyone here could be anyone else.
        "proxy_headers": False,
        "timeout_graceful_shutdown": CLOSE_SECONDS,
    }


def web_program(port: int) -> Program:
    """Pages, API and sockets; told to stop, it gives replies a little time to finish."""
    flags = [flag for name, value in web_options(port).items() for flag in _flags(name, value)]
    command = [sys.executable, "-m", "uvicorn", "config.asgi:application", *flags]
    return Program("web", command, stop_seconds=STOP_SECONDS)


def _flags(name: str, value: Any) -> list[str]:
    """The option as uvicorn's command line takes it."""
    flag = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{flag}" if value else f"--no-{flag}"]
    return [f"--{flag}", str(value)]


def worker_program(*, with_beat: bool = False) -> Program:
    """What is done in the background, and its clock; a task that is cut off is found again from its rows."""
    flags = f"worker --pool threads --concurrency {THREADS} -Q {QUEUES} --loglevel INFO --without-mingle"
    return Program("worker", _celery(flags + " --with-beat" * with_beat), stop_seconds=4)


def _celery(flags: str) -> list[str]:
    return [sys.executable, "-m", "celery", "-A", "config", *flags.split()]

"""The processes that make up Kith itself."""

import sys
from pathlib import Path

from config.up.ports import LOOPBACK
from config.up.programs import Program

QUEUES = "life,learn,embed,bulk,celery"
THREADS = 8
FRAME_BYTES = 1_000_000  # the longest message in its longest spelling is less than half of it
CLOSE_SECONDS = 3  # for connections to end
STOP_SECONDS = 15.0  # for those, and for replies to end or be written down as interrupted


def web(port: int) -> Program:
    """Pages, API and sockets; told to stop, it gives replies a little time to finish."""
    flags = f"--host {LOOPBACK} --port {port} --lifespan on --ws websockets-sansio --no-access-log"
    # Who asks is told by the proxies that KITH_PROXIES counts; else everyone here could be anyone else.
    flags += f" --no-proxy-headers --ws-max-size {FRAME_BYTES}"
    drain = f"--timeout-graceful-shutdown {CLOSE_SECONDS}"
    command = [sys.executable, "-m", "uvicorn", "config.asgi:application", *flags.split(), *drain.split()]
    return Program("web", command, stop_seconds=STOP_SECONDS)


def worker() -> Program:
    """What is done in the background; a task that is cut off is found again from its rows."""
    flags = f"worker --pool threads --concurrency {THREADS} -Q {QUEUES} --loglevel INFO --without-mingle"
    return Program("worker", _celery(flags), stop_seconds=4)


def beat(home: Path) -> Program:
    """The clock of the background work."""
    return Program("beat", [*_celery("beat --loglevel INFO -s"), str(home / "beat-schedule")], stop_seconds=4)


def _celery(flags: str) -> list[str]:
    return [sys.executable, "-m", "celery", "-A", "config", *flags.split()]

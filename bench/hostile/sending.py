"""What is sent, and how it is taken: as in Kith, with a scale under the process that reads it."""

import asyncio
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from files.errors import FilesError
from files.pictures import COMMAND as DRAWS
from files.pictures import picture
from providers.sound import SoundError, read_apart
from providers.sound.apart import COMMAND as HEARS
from tests.files import hostile as pictures
from tests.providers.sound import hostile as sounds

MOST_SECONDS = 300
WEIGHED = str(Path(__file__).with_name("weighed.py"))
LARGE_BYTES, PIECE = 200_000_000, bytes(1_000_000)
Take = Callable[[bytes, tuple[str, ...]], str]


class Sent(NamedTuple):
    name: str
    make: Callable[[], bytes]
    take: Take
    is_wanted: Callable[[str], bool]  # whether what came of it is what had to


class Came(NamedTuple):
    """`child_mb` is what the reading process had at most, `here_mb` how far this process grew meanwhile."""

    sent: Sent
    bytes: int
    outcome: str
    seconds: float
    child_mb: float
    here_mb: float


def all_sent() -> Iterator[Sent]:
    for name, (code, make) in pictures.REFUSED.items():
        yield Sent(name, make, _draw, code.__eq__)
    for name, ((width, height), make) in pictures.HARMLESS.items():
        yield Sent(name, make, _draw, f"{width} × {height}".__eq__)
    for name, make in pictures.EITHER.items():
        yield Sent(name, make, _draw, bool)
    for name, (code, make) in sounds.REFUSED.items():
        yield Sent(name, make, _hear, code.__eq__)
    for name, (seconds, make) in sounds.HARMLESS.items():
        yield Sent(name, make, _hear, partial(_lasts, seconds))
    for form, content in sounds.mutants():
        yield Sent(f"a broken {form}", lambda content=content: content, _hear, bool)
    for told in (True, False):
        how = "told" if told else "not told"
        yield Sent(f"a recording of 200 MB, its size {how}", bytes, _upload(told), "413".__eq__)


def _lasts(seconds: float, outcome: str) -> bool:
    """Coders add a little to the ends of a sound."""
    return outcome.endswith(" s") and abs(float(outcome[:-2]) - seconds) < 0.2


def send(one: Sent) -> Came:
    content = one.make()
    with tempfile.NamedTemporaryFile("r") as report:
        scale = (sys.executable, "-I", WEIGHED, report.name)
        before = _memory_kb("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # the highest is counted from here
        began = perf_counter()
        outcome = one.take(content, scale)
        seconds = perf_counter() - began
        child_kb = int(report.read() or 0)
    return Came(
        one,
        len(content),
        outcome,
        seconds,
        child_kb / 1024,
        max(0, _memory_kb("VmHWM") - before) / 1024,
    )


def _memory_kb(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def _draw(content: bytes, scale: tuple[str, ...]) -> str:
    try:
        made = picture(content, command=(*scale, *DRAWS))
    except FilesError as error:
        return error.code
    return f"{made.width} × {made.height}"


def _hear(content: bytes, scale: tuple[str, ...]) -> str:
    try:
        return f"{read_apart(content, MOST_SECONDS, command=(*scale, *HEARS)).seconds:.1f} s"
    except SoundError as error:
        return error.code


def _upload(is_told: bool) -> Take:
    """Sent to Kith as a browser sends it: the answer's status."""
    return lambda _content, _scale: asyncio.run(_answered(is_told))


async def _answered(is_told: bool) -> str:
    from config.asgi import application

    left, statuses = LARGE_BYTES, []

    async def receive() -> dict[str, Any]:
        nonlocal left
        left -= len(PIECE)
        return {"type": "http.request", "body": PIECE, "more_body": left > 0}

    async def send_back(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"multipart/form-data; boundary=x")]
    headers += [(b"content-length", str(LARGE_BYTES).encode())] if is_told else []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/api/v1/transcriptions",
        "raw_path": b"/api/v1/transcriptions",
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    await application(scope, receive, send_back)
    return f"{statuses[0]}"

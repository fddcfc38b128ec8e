"""A program that is given a text and writes sound."""

import asyncio
from collections.abc import Sequence
from typing import cast

from providers.asking_sound import MOST_BYTES
from providers.errors import ProviderUnavailable

STDIN, STDOUT = 0, 1
MOST_WORDS = 10_000  # bytes of what it says beside


class Listening(asyncio.SubprocessProtocol):
    """Keeps what the program writes, of its sound no more than there may be."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.sound, self.words = bytearray(), bytearray()
        self.done: asyncio.Future[None] = loop.create_future()
        self.exited: asyncio.Future[None] = loop.create_future()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == STDOUT:
            self.sound += data
            if len(self.sound) > MOST_BYTES and not self.done.done():
                self.done.set_exception(ProviderUnavailable(f"More than {MOST_BYTES} bytes were written"))
        elif len(self.words) < MOST_WORDS:
            self.words += data

    def process_exited(self) -> None:
        self.exited.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():  # all pipes are read to their end
            self.done.set_result(None)


async def run(program: str, arguments: Sequence[str], text: str) -> bytes:
    """What the program writes; it never outlives this call. ProviderUnavailable with its words where it fails."""
    try:
        made = await asyncio.get_running_loop().subprocess_exec(Listening, program, *arguments)
    except OSError as error:
        raise ProviderUnavailable(f"{program} does not start: {error}") from error
    transport, listening = made
    try:
        _tell(transport, text)
        await listening.done
    finally:
        transport.close()  # kills what still runs, and closes the pipes
        await asyncio.shield(listening.exited)
    if transport.get_returncode():
        said = listening.words.decode(errors="replace").replace("\0", "").strip()
        raise ProviderUnavailable(said or f"{program} failed")
    return bytes(listening.sound)


def _tell(transport: asyncio.SubprocessTransport, text: str) -> None:
    # By its type a uvloop's pipe is none, so it is not asked for it.
    pipe = cast(asyncio.WriteTransport, transport.get_pipe_transport(STDIN))
    pipe.write(text.encode(errors="replace"))
    pipe.write_eof()

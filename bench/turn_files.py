"""`python -m bench.turn_files`: which of Kith's files and functions one turn crosses, from its frame to its last frame.

One turn over the socket, after a few others, with the built-in embedder, the rehearsal model and no tool call; counted in
every thread of the web process.
"""

import asyncio
import sys
import threading
from collections import defaultdict
from pathlib import Path
from types import FrameType
from typing import Any

from bench.common.place import ROOT, Place

PACKAGES = ("companions", "memory", "voice", "platform")
NOT_COUNTED = str(ROOT / "platform" / "providers" / "rehearsal")  # a process of its own outside of this bench
TALK = (
    "I have a cat, Pim, who is afraid of thunder.",
    "My sister Ada lives in Lisbon.",
    "What is my cat afraid of?",
)


class Recorder:
    """Notes each function of Kith's that is called while it records."""

    def __init__(self) -> None:
        self.is_recording = False
        self.called: set[tuple[str, int, str]] = set()

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        if self.is_recording and event == "call":
            code = frame.f_code
            self.called.add((code.co_filename, code.co_firstlineno, code.co_name))

    def functions(self) -> dict[str, list[str]]:
        """Return the names of the functions that were called, by file."""
        folders = tuple(f"{ROOT / package}/" for package in PACKAGES)
        found = defaultdict(list)
        for path, _line, name in sorted(self.called):
            if path.startswith(folders) and not path.startswith(NOT_COUNTED):
                found[str(Path(path).relative_to(ROOT))].append(name)
        return dict(found)


async def _talk(path: str, header: str, recorder: Recorder) -> None:
    """Say each sentence in turn, and record while the last is answered."""
    from channels.testing import WebsocketCommunicator

    from config.asgi import application
    from providers.http.clients import aclose_clients

    name, _, value = header.partition(": ")
    socket = WebsocketCommunicator(application, path, headers=[(name.lower().encode(), value.encode())])
    await socket.connect(timeout=10)
    for text in TALK:
        await asyncio.sleep(1)
        recorder.is_recording = text == TALK[-1]
        await socket.send_json_to({"type": "message.send", "text": text, "client_id": text})
        frame: dict[str, Any] = {"type": ""}
        while frame["type"] != "reply.done":
            frame = await socket.receive_json_from(timeout=20)
    recorder.is_recording = False
    await socket.disconnect()
    await aclose_clients()


def main() -> None:
    """Print the files of one turn, each with its functions, and how many there are."""
    recorder = Recorder()
    threading.setprofile(recorder)
    with Place() as place:
        from django.conf import settings

        from bench.common.rows import person
        from tests.fixtures.rehearsal import RehearsalServer

        with RehearsalServer() as rehearsal:
            chat = {"base_url": rehearsal.url, "api_key": "", "model": "rehearsal", "is_rehearsal": True}
            settings.CHAT, settings.FLASHBACK_PROBABILITY = chat, 0
            someone = person("someone")
            sys.setprofile(recorder)
            asyncio.run(_talk(someone.path, someone.header, recorder))
            sys.setprofile(None)
        del place
    functions = recorder.functions()
    for path, names in functions.items():
        print(f"{path:<50}{', '.join(names)}")
    print(f"{len(functions)} files, {sum(map(len, functions.values()))} functions")


if __name__ == "__main__":
    main()

"""A chat model on a port of this machine, which answers each task about a talk as the corpus has it."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from bench.learning.corpus_files import Talk
from bench.learning.readers import Reader

TASK = re.compile(r"\ATask: (\w+)")


class ScriptedModel:
    """What it is to answer about the talk at hand; `asked` are the requests to read it a second time."""

    def __init__(self) -> None:
        self.talk: Talk | None = None
        self.reader = Reader("reader", 0.0)
        self.asked: list[list[dict[str, str]]] = []
        self.calls = 0
        self.url = ""

    def answer(self, messages: list[dict[str, str]]) -> str:
        """Return the answer to a request, as JSON."""
        from memory.learning.rules.subjects import is_own

        task = TASK.match(messages[0]["content"])
        if task is None or self.talk is None:
            raise ValueError("This is no task about a talk.")
        self.calls += 1
        if task[1] == "verification":
            self.asked.append(messages)
            return self.reader.answer(self.talk, messages[-1]["content"])
        # Whether they are the companion's own.
        edits: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
        for entry in self.talk.entries:
            edit = {"do": "add", "text": entry.answer["text"], "sources": entry.answer["sources"]}
            edits[is_own(entry.answer["text"], self.talk.companion)].append(edit)
        diary = [{"text": one["text"], "sources": one["sources"]} for one in self.talk.diary]
        forms: dict[str, dict[str, Any]] = {
            "facts": {"memories": [entry.answer for entry in self.talk.entries]},
            "digest": {"summary": "…", "memories": [entry.answer for entry in self.talk.entries]},
            "diary": {"title": self.talk.id, "diary": diary, "emotion": "neutral", "intensity": 0.2},
            "understanding": {"self_concept": edits[True], "user_profile": edits[False]},
        }
        return json.dumps(forms[task[1]], ensure_ascii=False)


@contextmanager
def serving() -> Iterator[ScriptedModel]:
    """Serve a scripted model inside the block, at its `url`."""
    model = ScriptedModel()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            delta = {"content": model.answer(body["messages"])}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            events = [
                {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
                {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
                {"choices": [], "usage": usage},
            ]
            told = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(told.encode())

        def log_message(self, format: str, *arguments: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        yield model
        server.shutdown()

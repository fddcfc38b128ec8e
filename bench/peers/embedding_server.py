"""Kith's embedder behind POST /v1/embeddings, so that others search over the same vectors; prints its port."""

import asyncio
import socket
import sys
from json import JSONDecodeError
from typing import Any

import django
from aiohttp import web

LARGEST_REQUEST_BYTES = 32 * 1024 * 1024


async def embeddings(request: web.Request) -> web.Response:
    """A vector for each text, as floats."""
    try:
        given = (await request.json())["input"]
    except (JSONDecodeError, KeyError, TypeError):
        return web.json_response({"error": {"message": "`input` is missing"}}, status=400)
    texts = [given] if isinstance(given, str) else [str(text) for text in given]
    vectors = await asyncio.to_thread(embedded, texts)
    data = [{"object": "embedding", "index": n, "embedding": one} for n, one in enumerate(vectors)]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return web.json_response({"object": "list", "model": "kith", "data": data, "usage": usage})


def embedded(texts: list[str]) -> list[list[float]]:
    """A vector of length 1 for each text, of a long one the mean of its windows'."""
    from providers.embedding.embedder import normalised
    from providers.embedding.selection import get_embedder

    kith = get_embedder()
    if kith is None:
        raise RuntimeError("Kith's embedder is missing: `make dev` installs its weights.")
    vectors: list[Any] = []
    for text in texts:
        windows = kith.embed_documents(kith.windows(text) or [" "])
        vectors.append(normalised(windows.mean(axis=0)).tolist())
    return vectors


def main() -> None:
    """Serve on a free port of the loopback address, and never end."""
    django.setup()
    listening = socket.create_server(("127.0.0.1", 0))
    app = web.Application(client_max_size=LARGEST_REQUEST_BYTES)
    app.router.add_post("/v1/embeddings", embeddings)
    embedded(["The first text loads the weights."])
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    web.run_app(app, sock=listening, print=None, access_log=None)


if __name__ == "__main__":
    main()

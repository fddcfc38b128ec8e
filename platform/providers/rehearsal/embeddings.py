"""POST /v1/embeddings: words hashed into a vector; alike where texts share words."""

import base64
import hashlib
import math
import struct
from json import JSONDecodeError

from aiohttp import web

from providers.rehearsal.likeness import terms
from providers.tokens import estimate

WIDTH = 256
MODEL = "rehearsal-embedding"


def embed(text: str, width: int) -> list[float]:
    """A vector of length 1: each word adds to the place that its digest names, with its digest's sign."""
    vector = [0.0] * width
    for term, count in (terms(text) or {text: 1}).items():
        digest = hashlib.blake2b(term.encode(), digest_size=8).digest()
        place = int.from_bytes(digest[:7], "big") % width
        vector[place] += count if digest[7] % 2 else -count
    length = math.sqrt(sum(value * value for value in vector))
    if not length:  # two words met in one place with opposite signs
        vector[0] = length = 1.0
    return [value / length for value in vector]


async def embeddings(request: web.Request) -> web.Response:
    """Answer one request with a vector for each text, as floats or in base64."""
    try:
        body = await request.json()
        texts = [body["input"]] if isinstance(body["input"], str) else list(body["input"])
        width = int(body.get("dimensions") or WIDTH)
        vectors = [embed(text, width) for text in texts]
    except (JSONDecodeError, KeyError, TypeError, ValueError, AttributeError):
        return web.json_response(
            {"error": {"message": "`input` must be a text or a list of texts"}}, status=400
        )
    is_base64 = body.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": at, "embedding": _base64(vector) if is_base64 else vector}
        for at, vector in enumerate(vectors)
    ]
    tokens = sum(map(estimate, texts))
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return web.json_response(
        {"object": "list", "model": body.get("model") or MODEL, "data": data, "usage": usage}
    )


def _base64(vector: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()

"""Embeddings from any OpenAI-compatible server."""

import base64
import binascii
from collections.abc import Sequence
from functools import cached_property
from time import perf_counter

import httpx2
import numpy as np
import openai

from providers.errors import ProviderError, ProviderRefused
from providers.metering import Metered, note
from providers.said import FAILURES, told
from providers.tokens import estimate, split
from providers.vectors import Floats, normalised

BATCH_TEXTS = 64
OVERLAP_TOKENS = 48
TIMEOUT = httpx2.Timeout(60.0, connect=5.0)


class RemoteEmbedder:
    """One model of one server. `max_tokens` is estimated, and low enough for the usual models."""

    max_tokens = 480

    def __init__(self, base_url: str, api_key: str, model: str, *, timeout: httpx2.Timeout = TIMEOUT) -> None:
        self.model = model
        self._base_url, self._api_key = base_url, api_key
        self._client = openai.OpenAI(
            base_url=base_url, api_key=api_key or "none", timeout=timeout, max_retries=0
        )

    @cached_property
    def width(self) -> int:
        """How many numbers a vector has, found by embedding one word."""
        return int(self._asked(["width"]).shape[1])

    def windows(self, text: str) -> list[str]:
        """The text itself, or its overlapping parts of about 480 tokens."""
        return split(text, self.max_tokens, OVERLAP_TOKENS)

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """(n, width); a text of several windows gets the direction of their mean."""
        parts = [(at, window) for at, text in enumerate(texts) for window in self.windows(text)]
        summed = np.zeros((len(texts), self.width), dtype=np.float32)
        for first in range(0, len(parts), BATCH_TEXTS):
            batch = parts[first : first + BATCH_TEXTS]
            vectors = self._asked([window for _, window in batch], self.width)
            np.add.at(summed, [at for at, _ in batch], vectors)
        return normalised(summed)

    def embed_query(self, text: str) -> Floats:
        """(width,) for a question."""
        vector: Floats = self.embed_documents([text])[0]
        return vector

    def _asked(self, texts: list[str], width: int | None = None) -> Floats:
        """The vectors; the call is noted for an open meter, also where it fails."""
        began, tokens, failed = perf_counter(), None, None
        try:
            answer = self._answer(texts)
            tokens = _tokens_of(answer)
            return normalised(_checked(answer, len(texts), width))
        except ProviderError as error:
            failed = error
            raise
        finally:
            spent = sum(map(estimate, texts)) if tokens is None and not failed else tokens or 0
            milliseconds = round((perf_counter() - began) * 1000)
            note(Metered(self._base_url, self.model, spent, tokens is None, milliseconds, failed))

    def _answer(self, texts: list[str]) -> object:
        body = {"model": self.model, "input": texts, "encoding_format": "float"}
        try:
            response = self._client.post("/embeddings", cast_to=httpx2.Response, body=body)
            return response.json()
        except FAILURES as error:
            raise told(error, self._api_key) from error
        except ValueError:
            raise ProviderRefused(f"No JSON came from /embeddings: {response.text[:500]}") from None


def _tokens_of(answer: object) -> int | None:
    """What the server counted; None where it did not say."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    tokens = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    return tokens if isinstance(tokens, int) and tokens >= 0 else None


def _checked(answer: object, count: int, width: int | None) -> Floats:
    """The vectors of an answer; ProviderRefused with what is wrong with them."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list):
        raise ProviderRefused(f"The answer of /embeddings has no data: {str(answer)[:500]}")
    try:
        rows = [_row(entry["embedding"]) for entry in sorted(data, key=lambda entry: entry.get("index", 0))]
    except (KeyError, TypeError, ValueError, AttributeError, binascii.Error):
        raise ProviderRefused("The answer of /embeddings holds something else than vectors") from None
    if len(rows) != count:
        raise ProviderRefused(f"/embeddings gave {len(rows)} vectors for {count} texts")
    widths = {row.shape for row in rows}
    if (
        len(widths) > 1
        or (width is not None and widths != {(width,)})
        or rows[0].ndim != 1
        or not rows[0].size
    ):
        shapes = ", ".join(sorted(str(shape) for shape in widths))
        raise ProviderRefused(
            f"/embeddings gave vectors of shape {shapes}; {width or 'one'} width was expected"
        )
    vectors = np.stack(rows)
    if not np.isfinite(vectors).all():
        raise ProviderRefused("/embeddings gave a vector with a number that is none (NaN or infinite)")
    return vectors


def _row(embedding: object) -> Floats:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    return np.asarray(embedding, dtype=np.float32)

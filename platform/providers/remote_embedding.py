"""Embeddings from any OpenAI-compatible server."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import httpx2
import numpy as np
import openai

from providers.errors import ProviderError, ProviderRefused
from providers.manner import PLAIN, Manner
from providers.metering import Metered, note
from providers.said import FAILURES, told
from providers.tokens import estimate, split
from providers.vectors import Floats, normalised

BATCH_TEXTS = 64
OVERLAP_TOKENS = 48
MAX_TOKENS = 480  # estimated, and low enough for the usual models
LEAST_TOKENS = 2 * OVERLAP_TOKENS  # what a prefix leaves of a window, however long it is
TIMEOUT = httpx2.Timeout(60.0, connect=5.0)


class RemoteEmbedder:
    """One model of one server, asked in one manner. `max_tokens` is estimated."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        *,
        manner: Manner = PLAIN,
        max_tokens: int = MAX_TOKENS,
        timeout: httpx2.Timeout = TIMEOUT,
    ) -> None:
        self.model, self.manner, self.max_tokens = model, manner, max_tokens
        self._base_url, self._api_key = base_url, api_key
        self._client = openai.OpenAI(
            base_url=base_url, api_key=api_key or "none", timeout=timeout, max_retries=0
        )

    @property
    def width(self) -> int:
        """How many numbers a vector has now, found by embedding one word."""
        return int(self._asked(["width"], self.manner.document_fields).shape[1])

    def windows(self, text: str) -> list[str]:
        """The text itself, or its overlapping parts of so many tokens, about, that a prefix has room before them."""
        prefix = max(estimate(self.manner.query_prefix), estimate(self.manner.document_prefix))
        return split(text, max(self.max_tokens - prefix, LEAST_TOKENS), OVERLAP_TOKENS)

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """(n, width); a text of several windows gets the direction of their mean."""
        return self._embedded(texts, self.manner.document_prefix, self.manner.document_fields)

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        """(n, width) for questions."""
        return self._embedded(texts, self.manner.query_prefix, self.manner.query_fields)

    def _embedded(self, texts: Sequence[str], prefix: str, fields: Mapping[str, Any]) -> Floats:
        parts = [(at, prefix + window) for at, text in enumerate(texts) for window in self.windows(text)]
        batches = [parts[first : first + BATCH_TEXTS] for first in range(0, len(parts), BATCH_TEXTS)]
        summed: Floats | None = None
        for batch in batches:
            vectors = self._asked(
                [part for _, part in batch], fields, summed.shape[1] if summed is not None else None
            )
            if summed is None:
                summed = np.zeros((len(texts), vectors.shape[1]), dtype=np.float32)
            np.add.at(summed, [at for at, _ in batch], vectors)
        return normalised(summed) if summed is not None else np.zeros((0, self.width), dtype=np.float32)

    def _asked(self, texts: list[str], fields: Mapping[str, Any], width: int | None = None) -> Floats:
        """The vectors; the call is noted for an open meter, also where it fails."""
        began, tokens, failed = perf_counter(), None, None
        try:
            answer = self._answer(texts, fields)
            tokens = _tokens_of(answer)
            return normalised(_checked(answer, len(texts), width))
        except ProviderError as error:
            failed = error
            raise
        finally:
            spent = sum(map(estimate, texts)) if tokens is None and not failed else tokens or 0
            milliseconds = round((perf_counter() - began) * 1000)
            note(Metered(self._base_url, self.model, spent, tokens is None, milliseconds, failed))

    def _answer(self, texts: list[str], fields: Mapping[str, Any]) -> object:
        body = {**fields, "model": self.model, "input": texts, "encoding_format": "float"}
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

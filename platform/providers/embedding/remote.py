"""Embeddings from any OpenAI-compatible server."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any, Self

import httpx2
import numpy as np
import openai

from providers.embedding.embedder import PLAIN_PROFILE, EmbeddingProfile, Floats, normalised
from providers.errors import NoVectors, ProviderError
from providers.http.options import cut_error_body, get_tls_context
from providers.http.sdk_errors import SDK_ERRORS, excerpt, redact, translate_error
from providers.tokens import Metered, estimate, note, split

BATCH_TEXTS = 64
OVERLAP_TOKENS = 48
MAX_TOKENS = 480  # estimated tokens, low enough for the usual models
MIN_WINDOW_TOKENS = 2 * OVERLAP_TOKENS  # for the text of a window, however long the prefix is
TIMEOUT = httpx2.Timeout(60.0, connect=5.0)


class RemoteEmbedder:
    """One model of one server, asked by one profile. `max_tokens` counts estimated tokens."""

    is_built_in = False

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        *,
        profile: EmbeddingProfile = PLAIN_PROFILE,
        max_tokens: int = MAX_TOKENS,
        timeout: httpx2.Timeout = TIMEOUT,
    ) -> None:
        self.model, self.profile, self.max_tokens = model, profile, max_tokens
        self._base_url, self._api_key = base_url, api_key
        http_client = openai.DefaultHttpxClient(
            timeout=timeout,
            verify=get_tls_context(),
            event_hooks={"response": [cut_error_body]},
            follow_redirects=not api_key,  # a key is sent only to the server that it was entered for
        )
        self._client = openai.OpenAI(
            base_url=base_url,
            api_key=api_key or "none",
            timeout=timeout,
            max_retries=0,
            http_client=http_client,
        )

    @classmethod
    def from_settings(cls, wanted: Mapping[str, Any]) -> Self:
        """Return the embedder that an entry of the settings describes."""
        profile = EmbeddingProfile.from_settings(wanted)
        max_tokens = wanted.get("max_tokens") or MAX_TOKENS
        return cls(
            wanted["base_url"], wanted["api_key"], wanted["model"], profile=profile, max_tokens=max_tokens
        )

    @property
    def width(self) -> int:
        """Return how many numbers a vector has now, found by embedding one word."""
        return int(self._request(["width"], self.profile.document_fields).shape[1])

    def windows(self, text: str) -> list[str]:
        """Return the text, or its overlapping parts, each short enough to leave room for a prefix, by estimate."""
        prefix = max(estimate(self.profile.query_prefix), estimate(self.profile.document_prefix))
        return split(text, max(self.max_tokens - prefix, MIN_WINDOW_TOKENS), OVERLAP_TOKENS)

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """Return an array of shape (n, width); a text of several windows gets their mean, with length 1."""
        return self._embed(texts, self.profile.document_prefix, self.profile.document_fields)

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        """Return an array of shape (n, width) for n queries."""
        return self._embed(texts, self.profile.query_prefix, self.profile.query_fields)

    def _embed(self, texts: Sequence[str], prefix: str, fields: Mapping[str, Any]) -> Floats:
        if not texts:
            return np.zeros((0, self.width), dtype=np.float32)
        parts = [(at, prefix + window) for at, text in enumerate(texts) for window in self.windows(text)]
        summed: Floats | None = None
        for first in range(0, len(parts), BATCH_TEXTS):
            places, windows = zip(*parts[first : first + BATCH_TEXTS], strict=True)
            vectors = self._request(windows, fields, None if summed is None else summed.shape[1])
            if summed is None:
                summed = np.zeros((len(texts), vectors.shape[1]), dtype=np.float32)
            np.add.at(summed, list(places), vectors)
        assert summed is not None  # noqa: S101 (every text has a window)
        return normalised(summed)

    def _request(self, texts: Sequence[str], fields: Mapping[str, Any], width: int | None = None) -> Floats:
        """Return the vectors of the texts. The call is metered, also if it fails."""
        began, tokens, failed = perf_counter(), None, None
        try:
            answer = self._post(texts, fields)
            usage = answer.get("usage") if isinstance(answer, dict) else None
            counted = usage.get("prompt_tokens") if isinstance(usage, dict) else None
            tokens = counted if isinstance(counted, int) and counted >= 0 else None
            return normalised(_read_vectors(answer, len(texts), width, self._api_key))
        except ProviderError as error:
            failed = error
            raise
        finally:
            spent = sum(map(estimate, texts)) if tokens is None and not failed else tokens or 0
            milliseconds = round((perf_counter() - began) * 1000)
            note(Metered(self._base_url, self.model, spent, tokens is None, milliseconds, failed))

    def _post(self, texts: Sequence[str], fields: Mapping[str, Any]) -> object:
        body = {**fields, "model": self.model, "input": texts, "encoding_format": "float"}
        try:
            response = self._client.post("/embeddings", cast_to=httpx2.Response, body=body)
            return response.json()
        except SDK_ERRORS as error:
            raise translate_error(error, self._api_key) from error
        except (ValueError, RecursionError):
            shown = excerpt(response.content, self._api_key)
            raise NoVectors(f"No JSON came from /embeddings: {shown}") from None


def _read_vectors(answer: object, count: int, width: int | None, api_key: str) -> Floats:
    """Return the vectors of an answer. Raise NoVectors, which says what is wrong, if they cannot be used."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list):
        raise NoVectors(f"The answer of /embeddings has no data: {redact(str(answer), api_key)}")
    try:
        rows = [
            _read_row(entry["embedding"]) for entry in sorted(data, key=lambda entry: entry.get("index", 0))
        ]
    except (KeyError, TypeError, ValueError, AttributeError, binascii.Error):
        raise NoVectors("The answer of /embeddings holds something else than vectors") from None
    if len(rows) != count:
        raise NoVectors(f"/embeddings gave {len(rows)} vectors for {count} texts")
    expected = (width,) if width is not None else rows[0].shape
    if len(expected) != 1 or not expected[0] or any(row.shape != expected for row in rows):
        shapes = ", ".join(sorted({str(row.shape) for row in rows}))
        raise NoVectors(f"/embeddings gave vectors of shape {shapes}; {width or 'one'} width was expected")
    vectors = np.stack(rows)
    if not np.isfinite(vectors).all():
        raise NoVectors("/embeddings gave a vector with a number that is none (NaN or infinite)")
    return vectors


def _read_row(embedding: object) -> Floats:
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    return np.asarray(embedding, dtype=np.float32)

"""The forward pass of a small BERT encoder (Devlin et al. 2018, arXiv:1810.04805), for reading only."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from providers.minilm.weights import Tensors
from providers.vectors import Floats, normalised

HEADS = 12
LAYERS = 6
EPSILON = np.float32(1e-12)
COLUMNS = 32  # of a weight, in one block
FEW_ROWS = 256
BLOCK = 32_768  # numbers at a time, so that all steps over them stay in the processor's cache


class Bert:
    """The encoder with mean pooling, as sentence-transformers publishes all-MiniLM-L6-v2."""

    def __init__(self, tensors: Tensors) -> None:
        dense = [name for name in tensors if name.startswith("encoder.") and name.endswith("dense.weight")]
        self._tensors = tensors | {name: in_blocks(tensors[name]) for name in dense}
        self._inputs = [self._joined(f"encoder.layer.{layer}.attention.self.") for layer in range(LAYERS)]
        self.width = tensors["embeddings.word_embeddings.weight"].shape[1]

    def _joined(self, prefix: str) -> tuple[Floats, Floats]:
        """Query, key and value side by side: one multiplication in place of three."""
        names = ("query", "key", "value")
        weights = np.concatenate([self._tensors.pop(f"{prefix}{name}.weight") for name in names])
        return in_blocks(weights), np.concatenate([self._tensors[f"{prefix}{name}.bias"] for name in names])

    def pooled(self, rows: Sequence[Sequence[int]]) -> Floats:
        """(n, width) for n rows of token ids, [CLS] and [SEP] among them: each row's mean, with length 1."""
        longest = max(map(len, rows))
        ids = np.zeros((len(rows), longest), dtype=np.int64)
        mask = np.zeros((len(rows), longest), dtype=np.float32)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = row
            mask[at, : len(row)] = 1
        hidden = self._encoded(ids, mask)
        summed = np.einsum("ntw,nt->nw", hidden, mask)
        return normalised(summed)

    def _encoded(self, ids: NDArray[np.int64], mask: Floats) -> Floats:
        table = self._tensors
        hidden = table["embeddings.word_embeddings.weight"][ids]
        hidden += table["embeddings.position_embeddings.weight"][: ids.shape[1]]
        hidden += table["embeddings.token_type_embeddings.weight"][0]
        hidden = self._levelled(hidden, "embeddings.LayerNorm")
        absent = (mask - 1)[:, None, None, :] * np.float32(1e9)
        for layer in range(LAYERS):
            hidden = self._layer(hidden, absent, layer)
        return hidden

    def _layer(self, hidden: Floats, absent: Floats, layer: int) -> Floats:
        prefix = f"encoder.layer.{layer}."
        seen = self._linear(self._attended(hidden, absent, layer), f"{prefix}attention.output.dense")
        hidden = self._levelled(seen + hidden, f"{prefix}attention.output.LayerNorm")
        wide = gelu(self._linear(hidden, f"{prefix}intermediate.dense"))
        return self._levelled(
            self._linear(wide, f"{prefix}output.dense") + hidden, f"{prefix}output.LayerNorm"
        )

    def _attended(self, hidden: Floats, absent: Floats, layer: int) -> Floats:
        texts, length, width = hidden.shape
        weights, bias = self._inputs[layer]
        joined = times(hidden.reshape(-1, width), weights)
        joined += bias
        joined = joined.reshape(texts, length, 3, HEADS, width // HEADS)
        query, key, value = joined.transpose(2, 0, 3, 1, 4)
        scores = query @ key.transpose(0, 1, 3, 2)
        scores *= np.float32((width // HEADS) ** -0.5)
        scores += absent
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        attended: Floats = (scores @ value).transpose(0, 2, 1, 3).reshape(texts, length, width)
        return attended

    def _linear(self, hidden: Floats, name: str) -> Floats:
        flat = times(hidden.reshape(-1, hidden.shape[-1]), self._tensors[f"{name}.weight"])
        flat += self._tensors[f"{name}.bias"]
        return flat.reshape(*hidden.shape[:-1], -1)

    def _levelled(self, hidden: Floats, name: str) -> Floats:
        """Layer normalisation over the last axis."""
        centred: Floats = hidden - hidden.mean(axis=-1, keepdims=True)
        spread = np.einsum("ntw,ntw->nt", centred, centred)[..., None] / np.float32(hidden.shape[-1])
        centred /= np.sqrt(spread + EPSILON)
        centred *= self._tensors[f"{name}.weight"]
        centred += self._tensors[f"{name}.bias"]
        return centred


def in_blocks(weights: Floats) -> Floats:
    """(outputs / 32, inputs, 32) of (outputs, inputs)."""
    blocks = weights.reshape(-1, COLUMNS, weights.shape[1]).transpose(0, 2, 1)
    return np.ascontiguousarray(blocks)


def times(rows: Floats, blocks: Floats) -> Floats:
    """rows · weightsᵀ, of weights in blocks.

    OpenBLAS multiplies a few rows by blocks so small without copying them first: a cue takes half the time. Where there
    are many rows, one large multiplication is worth the copy.
    """
    if len(rows) > FEW_ROWS:
        return rows @ blocks.transpose(1, 0, 2).reshape(rows.shape[1], -1)
    return (rows @ blocks).transpose(1, 0, 2).reshape(len(rows), -1)


def gelu(x: Floats) -> Floats:
    """x · Φ(x) in place, with erf by Abramowitz & Stegun 7.1.26, whose error is below 1.5e-7; NumPy has no erf."""
    flat = x.reshape(-1)
    for first in range(0, flat.size, BLOCK):
        block = flat[first : first + BLOCK]
        block *= _normal_below(block)
    return x


def _normal_below(x: Floats) -> Floats:
    """Φ(x), the share of a normal distribution below x."""
    z = np.abs(x)
    z *= np.float32(0.7071067811865476)
    t = z * np.float32(0.3275911)
    t += 1
    np.reciprocal(t, out=t)
    tail = t * np.float32(1.061405429)
    for term in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail += np.float32(term)
        tail *= t
    z *= z
    np.negative(z, out=z)
    tail *= np.exp(z, out=z)
    tail *= np.float32(0.5)  # now 1 - Φ(|x|)
    np.subtract(1, tail, out=tail, where=x >= 0)
    return tail

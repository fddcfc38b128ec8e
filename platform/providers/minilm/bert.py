"""The encoder at work: token ids in, vectors out."""

from collections.abc import Sequence

import numpy as np
from onnxruntime import InferenceSession, OrtValue, SessionOptions

from providers.minilm.graph import encoder
from providers.minilm.weights import Tensors
from providers.vectors import Floats, normalised

ERRORS = 3  # what ONNX Runtime tells of itself, from here on


class Bert:
    """The encoder with mean pooling, as sentence-transformers publishes all-MiniLM-L6-v2. Safe in many threads."""

    def __init__(self, tensors: Tensors) -> None:
        graph, weights = encoder(tensors)
        self._session = InferenceSession(graph, _options(weights), providers=["CPUExecutionProvider"])

    def pooled(self, rows: Sequence[Sequence[int]]) -> Floats:
        """(n, width) for n rows of token ids, [CLS] and [SEP] among them: each row's mean, with length 1."""
        longest = max(map(len, rows))
        ids = np.zeros((len(rows), longest), dtype=np.int64)
        mask = np.zeros((len(rows), longest), dtype=np.int32)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = row
            mask[at, : len(row)] = 1
        [hidden] = self._session.run(None, {"ids": ids, "places": np.arange(longest), "mask": mask})
        return normalised(np.einsum("ntw,nt->nw", hidden, mask.astype(np.float32)))


def _options(weights: Tensors) -> SessionOptions:
    """One thread, the caller's: many texts run side by side in Kith's worker threads.

    The weights go beside the graph: within it they would be copied several times on their way.
    """
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = ERRORS
    options.add_external_initializers(
        list(weights), [OrtValue.ortvalue_from_numpy(one) for one in weights.values()]
    )
    return options

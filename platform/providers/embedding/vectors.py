"""Vectors as rows of 32-bit floats."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def normalised(vectors: Floats) -> Floats:
    """The same directions with length 1; a vector of length 0 stays as it is."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    directions: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return directions

"""Sound as numbers."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.int16]

MIN_RATE, MAX_RATE = 4_000, 48_000  # samples a second; what comes faster is brought down to it
FULL_SCALE = 32_768.0
SILENT_BELOW = 0.003  # of full scale, about -50 dB: a quiet room's hum, and no voice
WINDOW_SECONDS = 0.05


@dataclass(frozen=True, eq=False)
class Sound:
    """One channel of samples, so many a second."""

    samples: Samples
    rate: int

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate

    @cached_property
    def level(self) -> float:
        """How loud its loudest twentieth of a second is, as root mean square: 0 to 1."""
        width = max(1, int(self.rate * WINDOW_SECONDS))
        windows = (self.samples[at : at + width] for at in range(0, len(self.samples), width))
        squares = (float(np.mean(np.square(window, dtype=np.float32))) for window in windows)
        return float(max(squares, default=0.0) ** 0.5 / FULL_SCALE)

    @property
    def is_silent(self) -> bool:
        """Whether nothing can be heard in it from beginning to end."""
        return self.level < SILENT_BELOW

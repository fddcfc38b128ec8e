"""How long single steps take, and how that is printed."""

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any


def measure(work: Callable[..., object], *given: Any) -> float:
    """Return how many milliseconds it takes to do this once."""
    began = time.perf_counter()
    work(*given)
    return (time.perf_counter() - began) * 1000


def show(name: str, milliseconds: Sequence[float]) -> None:
    """Print the median, the 95th percentile and the longest of several."""
    cuts = statistics.quantiles(milliseconds, n=20)
    told = f"p50 {statistics.median(milliseconds):7.1f} ms   p95 {cuts[18]:7.1f} ms   worst {max(milliseconds):7.1f} ms"
    print(f"{name:<42} {told}", flush=True)

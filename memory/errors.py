"""What may go wrong in memory.

MemoryError is Python's own, so the tree starts here:
WidthError   a vector has another width than its space; nothing is stored
PolicyError  there is no scoring policy of that name
"""


class WidthError(ValueError):
    """A vector of the wrong width came from the embedder."""

    code = "wrong_width"

    def __init__(self, model: str, width: int, got: tuple[int, ...]) -> None:
        super().__init__(f"{model} gave vectors of shape {got}; its space is {width} wide.")


class PolicyError(ValueError):
    """A scoring policy was named that there is not."""

    code = "no_such_policy"

    def __init__(self, name: str, names: list[str]) -> None:
        super().__init__(f"There is no scoring policy {name!r}; there are {', '.join(names)}.")

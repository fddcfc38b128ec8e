"""The exceptions of memory. They have no common base class, since `MemoryError` is Python's own.

What only a mistake of the calling code can cause is a ValueError.
"""

from accounts.errors import RefusedError


class WidthError(ValueError):
    """The embedder returned vectors of another width than the space's."""

    code = "wrong_width"

    def __init__(self, model: str, width: int, got: tuple[int, ...]) -> None:
        super().__init__(f"{model} gave vectors of shape {got}; its space is {width} wide.")


class WidestError(ValueError):
    """The model's vectors are wider than a space can hold."""

    code = "too_wide"

    def __init__(self, model: str, width: int, most: int) -> None:
        super().__init__(f"{model} gives vectors of {width} numbers; a space holds at most {most}.")


class PolicyError(ValueError):
    """There is no scoring policy of that name."""

    code = "no_such_policy"

    def __init__(self, name: str, names: list[str]) -> None:
        super().__init__(f"There is no scoring policy {name!r}; there are {', '.join(names)}.")


class ParameterError(PolicyError):
    """The policy cannot be built from these parameters; the message says why."""

    code = "bad_policy_parameter"

    def __init__(self, reason: str) -> None:
        ValueError.__init__(self, reason)


class CoreMemoryError(RefusedError):
    """Core memory cannot be changed in this way; the error's sentence is for people and models."""


class NamingError(CoreMemoryError):
    """The name is empty, too long, or has characters that no URL can hold."""


class WordsError(CoreMemoryError):
    """The text is empty, too long or cannot be stored, or a block's size is out of range."""


class FullError(CoreMemoryError):
    """The companion has the maximum number of slots or blocks already."""

    status = 409


class ReadOnlyError(CoreMemoryError):
    """The companion may not write on this block."""

    status = 409


class UnknownError(CoreMemoryError):
    """There is no slot or block of that name."""

    status = 404


class MatchError(CoreMemoryError):
    """The text to be replaced does not occur in the block, or occurs more than once."""

    status = 409


class DocumentError(RefusedError):
    """The text cannot be kept as a document; nothing of it was stored."""


class UndoError(RefusedError):
    """A change or retraction cannot be undone, or a contradiction settled, as things are now; nothing was changed."""

    status = 409

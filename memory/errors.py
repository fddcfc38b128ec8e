"""What may go wrong in memory. MemoryError is Python's own, so the classes have no common root."""

from accounts.errors import RefusedError


class WidthError(ValueError):
    """A vector of the wrong width came from the embedder."""

    code = "wrong_width"

    def __init__(self, model: str, width: int, got: tuple[int, ...]) -> None:
        super().__init__(f"{model} gave vectors of shape {got}; its space is {width} wide.")


class WidestError(ValueError):
    """No space can be so wide."""

    code = "too_wide"

    def __init__(self, model: str, width: int, most: int) -> None:
        super().__init__(f"{model} gives vectors of {width} numbers; a space holds at most {most}.")


class VectorError(ValueError):
    """A cue's vector is all zeros, or holds NaN or infinity."""

    code = "no_direction"

    def __init__(self) -> None:
        super().__init__("The cue's vector must hold numbers, not all of them 0.")


class LimitError(ValueError):
    """So many memories cannot be asked for."""

    code = "limit_out_of_range"

    def __init__(self, limit: int, most: int) -> None:
        super().__init__(f"A recall gives 0 to {most} memories, not {limit}.")


class OffsetError(ValueError):
    """So many memories cannot be skipped."""

    code = "offset_out_of_range"

    def __init__(self, offset: int, most: int) -> None:
        super().__init__(f"A recall can skip 0 to {most} memories, not {offset}.")


class FilterError(ValueError):
    """A filter that means nothing; the message says why."""

    code = "bad_filter"


class NoveltyError(ValueError):
    """So much cannot be told from what is known; the message says why."""

    code = "bad_news_question"


class PolicyError(ValueError):
    """A scoring policy was named that there is not."""

    code = "no_such_policy"

    def __init__(self, name: str, names: list[str]) -> None:
        super().__init__(f"There is no scoring policy {name!r}; there are {', '.join(names)}.")


class ParameterError(PolicyError):
    """A policy cannot be built from such parameters; the message says why."""

    code = "bad_policy_parameter"

    def __init__(self, reason: str) -> None:
        ValueError.__init__(self, reason)


class CoreMemoryError(RefusedError):
    """Core memory cannot be changed so; the sentence is for people and models."""


class NamingError(CoreMemoryError):
    """No name: empty, too long, or with characters that no address can hold."""


class WordsError(CoreMemoryError):
    """The text is empty, too long, or no text."""


class FullError(CoreMemoryError):
    """There are as many slots or blocks as there can be."""

    status = 409


class ReadOnlyError(CoreMemoryError):
    """The companion may not write on this block."""

    status = 409


class UnknownError(CoreMemoryError):
    """There is no slot or block of that name."""

    status = 404


class MatchError(CoreMemoryError):
    """What is to be replaced does not stand there, or more than once."""

    status = 409


class DocumentError(RefusedError):
    """What was given cannot be kept as a document; nothing of it was."""


class UndoError(RefusedError):
    """What a night or a companion did cannot be undone, or settled, as things are now; nothing of it is."""

    status = 409

"""What may go wrong in memory.

MemoryError is Python's own, so the tree starts here:
WidthError   a vector has another width than its space; nothing is stored
WidestError  an embedder's vectors are wider than any space can be
VectorError  a vector that is to be searched with holds no direction, or what is no number
LimitError   more, or fewer, memories were asked for than a recall gives
OffsetError  more were to be skipped than a recall gives, or fewer than none
FilterError  a filter names what there is not, or a time that cannot be
NoveltyError more is asked to be told from what is known than one question may hold, or by a likeness that is none
PolicyError  there is no scoring policy of that name
└── ParameterError  a policy was given a parameter that it has not, or cannot be built from
CoreMemoryError(code, detail)  what is always in mind cannot be changed so
├── NamingError    no name: empty, too long, or with characters that no address can hold
├── WordsError     the text is empty, too long, or no text
├── FullError      there are as many slots or blocks as there can be
├── ReadOnlyError  the companion may not write on this block
├── UnknownError   there is no slot or block of that name
└── MatchError     what is to be replaced does not stand there, or more than once
UndoError    what a night did cannot be undone, or settled, as things are now; nothing of it is
"""

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
    """Its sentence is for people and models."""


class NamingError(CoreMemoryError):
    pass


class WordsError(CoreMemoryError):
    pass


class FullError(CoreMemoryError):
    status = 409


class ReadOnlyError(CoreMemoryError):
    status = 409


class UnknownError(CoreMemoryError):
    status = 404


class MatchError(CoreMemoryError):
    status = 409


class DocumentError(RefusedError):
    """What was given cannot be kept as a document; nothing of it was."""


class UndoError(RefusedError):
    status = 409

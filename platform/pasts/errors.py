"""What a file of earlier talk can be refused for, as a code; `reader.py` has a sentence for each."""


class PastFormatError(Exception):
    """The file holds no talk that is known, or costs more than one may."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code

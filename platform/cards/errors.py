"""What a card's file can be refused for, as a code; `reader.py` has a sentence for each."""


class CardFormatError(Exception):
    """The file is no card, or costs more than a card may."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code

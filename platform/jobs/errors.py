"""What a job may fail of. It stands apart from the leases: whoever raises it need not load Django's models."""


class RetryableError(Exception):
    """A failure that is not the program's fault, told apart by its code."""

    code = "unavailable"


class PostponedError(RetryableError):
    """It is not the time for it: it is tried again a little later, and that is no failed try."""

    code = "postponed"

"""Errors of jobs that may be retried. They stand apart from `jobs.lease`, so that raising one needs no Django."""


class RetryableError(Exception):
    """A failure that is not the program's fault, such as a server's that does not answer; `code` says which."""

    code = "unavailable"


class PostponedError(RetryableError):
    """The work has to wait: it is tried again a little later, without counting as a failed attempt."""

    code = "postponed"

"""What may go wrong when something is asked of a companion.

CompanionsError(code, detail)
├── TextError            what was sent is empty, too long, or no text
├── ConflictError        the same client id with another text
├── LimitError           more than one person or one companion can have
├── ReplyStateError      the reply is not in a state for that
├── PortraitError        a seed, a feature or an emotion that there is none of
├── PursuitError         a goal that cannot be a part of that
└── TimerError           a timer that cannot be set, or fired
    └── ScheduleError    what was written is no schedule, or one that cannot be set
"""

from django.utils.functional import Promise


class CompanionsError(Exception):
    """Carries a code for programs, a kind sentence for people, and the HTTP status that fits."""

    status = 422

    def __init__(self, code: str, detail: str | Promise) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail


class TextError(CompanionsError):
    pass


class ConflictError(CompanionsError):
    status = 409


class LimitError(CompanionsError):
    status = 409


class ReplyStateError(CompanionsError):
    status = 409


class PortraitError(CompanionsError):
    pass


class PursuitError(CompanionsError):
    pass


class TimerError(CompanionsError):
    def __init__(self, code: str, detail: str | Promise, status: int = 422) -> None:
        super().__init__(code, detail)
        self.status = status


class ScheduleError(TimerError):
    pass

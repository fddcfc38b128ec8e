"""What may go wrong when something is asked of a companion.

CompanionsError(code, detail)
├── TextError            what was sent is empty, too long, or no text
├── QuoteError           a message that is not there to be quoted
├── AttachmentError      a picture that is not there, or one too many
├── BranchError          a branch that is not there, is chosen, or is one too many
├── ConflictError        the same client id with another text
├── GalleryError         a character that cannot be published, by its `field`, or is not in a state for that
├── LoreError            a lorebook or an entry that cannot be kept, by its `field`
├── LimitError           more than one person or one companion can have
├── MindError            a model that is not there, or a value for one that will not do, by its `field`
├── ForgetProposalError  a proposal to forget that has ended, or of which nothing was chosen
├── ReplyStateError      the reply is not in a state for that
├── ModelChoiceError     a model that is not there to be taken, or an own one that is not there to be kept
├── PortraitError        a seed, a feature or an emotion that there is none of
├── TrialError           the model that a character is tried out with could not answer
├── SearchError          a search for too much, or for nothing
├── PursuitError         a goal that cannot be a part of that
└── TimerError           a timer that cannot be set, or fired
    └── ScheduleError    what was written is no schedule, or one that cannot be set

LostOwnershipError       a reply or a waking is not this process's to make any more: it was ended, deleted, or taken over
"""

from accounts.errors import RefusedError


class CompanionsError(RefusedError):
    pass


class TextError(CompanionsError):
    pass


class QuoteError(CompanionsError):
    status = 404


class AttachmentError(CompanionsError):
    pass


class BranchError(CompanionsError):
    status = 409


class ConflictError(CompanionsError):
    status = 409


class LimitError(CompanionsError):
    status = 409


class GalleryError(CompanionsError):
    def __init__(self, code: str, detail: str, field: str = "", status: int | None = None) -> None:
        super().__init__(code, detail, status)
        self.field = field


class LoreError(CompanionsError):
    def __init__(self, code: str, detail: str, field: str = "") -> None:
        super().__init__(code, detail)
        self.field = field


class MindError(CompanionsError):
    def __init__(self, field: str, detail: str) -> None:
        super().__init__("bad_value", detail)
        self.field, self.more = field, {"field": field}


class ForgetProposalError(CompanionsError):
    status = 409


class ReplyStateError(CompanionsError):
    status = 409


class ModelChoiceError(CompanionsError):
    status = 409


class PortraitError(CompanionsError):
    pass


class TrialError(CompanionsError):
    status = 503


class SearchError(CompanionsError):
    pass


class PursuitError(CompanionsError):
    pass


class TimerError(CompanionsError):
    pass


class ScheduleError(TimerError):
    pass


class LostOwnershipError(Exception):
    pass

"""The errors of companions.

CompanionsError(code, detail)
├── TextError            a text or frame is empty, too long or invalid, or its message, reply or companion is missing
├── QuoteError           the quoted message is not on the chosen branch, or is hidden from prompts
├── AttachmentError      an attachment does not exist, or there are too many
├── BranchError          the branch, message or companion does not exist, the branch is chosen, or there are too many
├── ConflictError        the client id, or what is sent with the message, was used for another message already
├── GalleryError         a character cannot be published (`field` is the input at fault), or its state forbids that
├── LoreError            a lorebook or entry cannot be saved; `field` names the field at fault
├── LimitError           a user or a companion has as many of something as is allowed
├── MindError            a model or a setting of a model is invalid; `field` names it
├── ForgetProposalError  the proposal to forget has ended, or nothing of it was chosen
├── ReplyStateError      the reply's state does not allow the action
├── ModelChoiceError     a model is not available, the decision is unknown, or there is nothing to compare models with
├── PortraitError        the seed, feature or emotion does not exist
├── TrialError           the model could not answer while a character was tried out
├── SearchError          the search query is too long or too short
├── PursuitError         the goal cannot be a part of the chosen one
└── TimerError           the timer cannot be set or fired
    └── ScheduleError    the schedule cannot be parsed, or its times are not allowed

LostOwnershipError       this process no longer owns the reply or waking: it was ended, deleted or taken over
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

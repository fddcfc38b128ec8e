"""What may go wrong with a provider.

ProviderError
├── ProviderUnavailable   unreachable, too slow, 5xx, 429, a cut stream, HTML instead of JSON: a later try may help
│   ├── ProviderBusy      busy with people's talks, or failing repeatedly: background work is postponed
│   │   └── LimitReached  a limit of the operator's: background work is postponed, a person who waits is told
│   │       └── AllowanceSpent  the person's own tokens of the day are used up
│   ├── ModelMissing      no provider in force has the model that was asked for
│   ├── ModelLoading      the server has just started: it will answer soon
│   └── AnswerUnfinished  an answer to background work broke off, for which the request may be to blame
├── ProviderRefused       4xx, such as a bad request or a bad key: another try will not help
│   ├── AddressRefused    a person's own address that must not be asked from here
│   ├── AnswerWithheld    the provider's content filter withheld the answer
│   ├── NoVectors         the answer to a request for embeddings cannot be used
│   └── ContextTooLong    the prompt does not fit, even with its history shortened
├── EmptyAnswer           the model said nothing that can be used
└── MalformedError        the answer is not in the form that was asked for: a later try may help
"""

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from jobs.errors import PostponedError, RetryableError
from text.strings import storable

if TYPE_CHECKING:
    from providers.chat.events import Usage

MAX_CHARACTERS = 2000


class ProviderError(RetryableError):
    """A failed call.

    `said` holds the provider's own words for the operator, at most 2,000 characters; `status` is the HTTP
    status, or None; `usage` is what the call used if it failed after its first pieces, otherwise None;
    `code` is for programs and `sentence` for the person who waits. `is_broken_off` if the server took the request and
    then dropped the connection, as one that crashes does.
    """

    is_broken_off = False
    code = "provider_error"
    sentence = _("The model could not answer.")

    def __init__(self, said: str, *, status: int | None = None, usage: "Usage | None" = None) -> None:
        self.said = storable(said[:MAX_CHARACTERS])
        self.status = status
        self.usage = usage
        super().__init__(self.said)


class ProviderUnavailable(ProviderError):
    """A failure that a later try may mend. `retry_after_seconds` is the wait that the provider asked for, or 0."""

    retry_after_seconds = 0.0
    code = "provider_unavailable"
    sentence = _("The model cannot be reached right now. Your message is kept; please try again in a moment.")


class ProviderBusy(ProviderUnavailable, PostponedError):
    """No slot of the server stayed free of talks for long enough, or its breaker is open after repeated failures."""

    code = "provider_busy"


class LimitReached(ProviderBusy):
    """A limit on requests or tokens that the operator has set is reached."""

    code = "limit_reached"
    sentence = _(
        "The model cannot take more requests right now: whoever runs this Kith has set a limit. Your message is kept;"
        " please try again later."
    )


class AllowanceSpent(LimitReached):
    """The person has no tokens left today."""

    code = "no_tokens_left"
    sentence = _(
        "Today's allowance is used up. Your message is kept: you get a new allowance at midnight, and can try again"
        " then."
    )


class ModelMissing(ProviderUnavailable):
    code = "model_missing"
    sentence = _(
        "The model that answers here is not available right now. Your message is kept; whoever runs this Kith can"
        " bring it back."
    )


class ModelLoading(ProviderUnavailable):
    """The server is still loading its model, as llama.cpp's server says until it has read the model from disk."""

    code = "model_loading"
    sentence = _("The model is still loading. Your message is kept; please try again in a minute or two.")


class AnswerUnfinished(ProviderUnavailable):
    """An answer to background work had begun and did not end, or the server dropped the request, as one that crashes on
    a prompt does each time. The request may be to blame, and has its cost.
    """

    code = "answer_unfinished"


# The codes of failures for which the request is not to blame: it may be made again, however often.
OUTAGES = {ProviderUnavailable.code, ModelMissing.code, ModelLoading.code}


class ProviderRefused(ProviderError):
    code = "provider_refused"
    sentence = _(
        "The model's server did not accept this request. That is not because of what you wrote, which is kept; whoever"
        " runs this Kith can see what the server says."
    )


class AddressRefused(ProviderRefused):
    """The address of a person's own provider may not be asked, e.g. because it is not on the public Internet."""


class AnswerWithheld(ProviderRefused):
    code = "answer_withheld"
    sentence = _(
        "The model would not answer this. Your message is kept; you could try putting it another way."
    )


class NoVectors(ProviderRefused):
    """The answer to a request for embeddings holds no usable vectors, or not one for each text."""


class ContextTooLong(ProviderRefused):
    code = "context_too_long"
    sentence = _(
        "This is more than the model can read at once. Your message is kept; a shorter message may work, or whoever"
        " runs this Kith can give the model more context."
    )


class EmptyAnswer(ProviderError):
    """The model said nothing that can be used. `said` is in Kith's own words."""

    code = "empty_answer"
    sentence = _("The model gave no answer. Your message is kept; please try again.")


class MalformedError(ProviderError):
    """The answer has another form than was asked for. `said` is in Kith's own words: logs must not quote the model."""

    code = "malformed_answer"
    sentence = _("The model did not answer in the form it was asked for.")

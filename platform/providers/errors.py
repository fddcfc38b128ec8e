"""What may go wrong with a provider.

ProviderError
├── ProviderUnavailable   not reached, too slow, 5xx, 429, a cut stream, HTML in place of JSON: later may help
│   ├── ProviderBusy      people talk with it all the while: what can wait is put off
│   │   └── LimitReached  a limit of the operator's: what can wait is put off, whoever talks is told
│   ├── ModelMissing      no provider in force has the model that was asked for
│   └── ModelLoading      its server has only begun: soon it will answer
├── ProviderRefused       4xx: bad request, bad key: again will not help
│   ├── AddressRefused    nobody may have it asked from here
│   ├── AnswerWithheld    what was asked, or answered, is not to be said
│   ├── NoVectors         what came in place of embeddings cannot be used
│   └── ContextTooLong    the prompt does not fit, however short its history
├── EmptyAnswer           nothing was said, also when asked again
└── MalformedError        it answered, in another form than it was asked for: later may help
"""

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from jobs.errors import PostponedError, RetryableError

if TYPE_CHECKING:
    from providers.chat.events import Usage

MAX_CHARACTERS = 2000


class ProviderError(RetryableError):
    """A failed call.

    `said` holds the provider's own words for the operator, at most 2,000 characters; `status` its HTTP
    status, where there was one; `usage` what was spent before it failed, where pieces had come already;
    `code` is for programs and `sentence` for the person who waits.
    """

    code = "provider_error"
    sentence = _("The model could not answer.")

    def __init__(self, said: str, *, status: int | None = None, usage: "Usage | None" = None) -> None:
        # A database takes no NUL and nothing that UTF-8 has not, and an engine may answer both.
        self.said = said[:MAX_CHARACTERS].replace("\0", "").encode(errors="replace").decode()
        self.status = status
        self.usage = usage
        super().__init__(self.said)


class ProviderUnavailable(ProviderError):
    """`retry_after_seconds` is what the provider asked for, 0 where it asked for nothing."""

    retry_after_seconds = 0.0
    code = "provider_unavailable"
    sentence = _(
        "The model cannot be reached just now. What you wrote is kept; please try again in a moment."
    )


class ProviderBusy(ProviderUnavailable, PostponedError):
    """No slot of the server was free of talk for long enough, or it failed too often just now."""

    code = "provider_busy"


class LimitReached(ProviderBusy):
    """A limit that the operator has set for the provider."""

    code = "limit_reached"
    sentence = _(
        "The model may not be asked any more just now: whoever runs this Kith has set a limit. What you wrote is kept;"
        " please try again later."
    )


class ModelMissing(ProviderUnavailable):
    code = "model_missing"
    sentence = _(
        "The model that answers here is not there just now. What you wrote is kept; whoever runs this Kith can bring it"
        " back."
    )


class ModelLoading(ProviderUnavailable):
    """llama.cpp's server says so until it has read the model from disk."""

    code = "model_loading"
    sentence = _(
        "The model is still being loaded. What you wrote is kept; please try again in a minute or two."
    )


class ProviderRefused(ProviderError):
    code = "provider_refused"
    sentence = _(
        "The model's server could not take this request. That is not for what you wrote, which is kept; whoever runs"
        " this Kith can see what the server says."
    )


class AddressRefused(ProviderRefused):
    """A person's own address that is none of the open Internet."""


class AnswerWithheld(ProviderRefused):
    code = "answer_withheld"
    sentence = _("The model would not answer this. What you wrote is kept; you could put it another way.")


class NoVectors(ProviderRefused):
    """The answer to a request for embeddings holds something else, or not as many as were asked for."""


class ContextTooLong(ProviderRefused):
    code = "context_too_long"
    sentence = _(
        "This is more than the model can read at once. What you wrote is kept; a shorter message may do, or whoever"
        " runs this Kith can give the model more context."
    )


class EmptyAnswer(ProviderError):
    """Its words are Kith's own."""

    code = "empty_answer"
    sentence = _(
        "The model gave no answer, though it was asked twice. What you wrote is kept; please try again."
    )


class MalformedError(ProviderError):
    """Its words are Kith's own: what the model said does not belong into a log."""

    code = "malformed_answer"
    sentence = _("The model answered in another form than it was asked for.")

"""What may go wrong with a provider.

ProviderError
├── ProviderUnavailable   not reached, too slow, 5xx, 429, a cut stream, HTML in place of JSON: later may help
├── ProviderRefused       4xx: bad request, bad key, too long a prompt, refused content: again will not help
└── MalformedError        it answered, in another form than it was asked for: later may help
"""

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from jobs.errors import RetryableError

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


class ProviderRefused(ProviderError):
    code = "provider_refused"
    sentence = _("The model would not answer this. What you wrote is kept; you could put it another way.")


class MalformedError(ProviderError):
    """Its words are Kith's own: what the model said does not belong into a log."""

    code = "malformed_answer"
    sentence = _("The model answered in another form than it was asked for.")

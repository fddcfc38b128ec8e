"""Kind sentences for the ways in which a reply may fail."""

from django.utils.translation import gettext as _

from providers.errors import ProviderRefused, ProviderUnavailable

SENTENCES = {error.code: error.sentence for error in (ProviderUnavailable, ProviderRefused)}


def detail_of(code: str) -> str:
    """What happened and what to do, in the active language."""
    return str(
        SENTENCES.get(code) or _("Something went wrong on Kith's side. Your message is kept; try again.")
    )

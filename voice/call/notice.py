"""What is said at the beginning of every call, in writing and aloud: with whom one speaks."""

from django.utils.translation import gettext as _

from companions.models import Companion


def notice(companion: Companion) -> str:
    """The sentence, in the person's language."""
    return _("%(name)s is an AI, not a person.") % {"name": companion.name}

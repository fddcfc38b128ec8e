"""What a call's page says in the reader's language, and what is said at the beginning of every call."""

from django.utils.translation import gettext as _

from companions.models import Companion


def ai_notice(companion: Companion) -> str:
    """Return the sentence that tells with whom one speaks, in writing and aloud."""
    return _("%(name)s is an AI, not a person.") % {"name": companion.name}


def call_words(name: str) -> dict[str, str]:
    """Return the words that the scripts put on the page."""
    who = {"name": name}
    return {
        "opening": _("One moment…"),
        "listening": _("%(name)s is listening") % who,
        "hearing": _("%(name)s hears you") % who,
        "understanding": _("One moment…"),
        "thinking": _("%(name)s is thinking") % who,
        "speaking": _("%(name)s is speaking") % who,
        "muted": _("Your microphone is off"),
        "ended": _("The call has ended. All that was said is in the talk."),
        "reconnecting": _("The line has fallen. Trying again…"),
        "signed_out": _("You are signed out. Sign in again to go on."),
        "gone": _("This companion is not there any more."),
        "too_fast": _("That was very fast. Going on in a moment."),
        "denied": _("Your browser keeps the microphone from this page. Allow it there, then call again."),
        "no_microphone": _("No microphone was found. Connect one, then call again."),
        "insecure": _("Browsers give a microphone only to pages with https. Ask who runs this Kith."),
        "lost": _("The microphone is gone. Connect it, then call again."),
        "voiceless": _("This could not be read aloud; you can read it here."),
        "failed": _("That did not work. Try again in a moment."),
        "mute": _("Mute yourself"),
        "unmute": _("Be heard again"),
        "you": _("You"),
        "companion": name,
    }

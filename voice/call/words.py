"""The words that a call's scripts put on the page, in the reader's language."""

from django.utils.translation import gettext as _


def call_words(name: str) -> dict[str, str]:
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

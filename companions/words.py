"""The words that the talk's scripts put on the page, in the reader's language."""

from django.utils.translation import gettext as _


def talk_words(name: str) -> dict[str, str]:
    return {
        "reconnecting": _("The connection is gone. Trying again…"),
        "offline": _("You are offline. What you send goes out when the connection is back."),
        "signed_out": _("You are signed out. Sign in again to go on; your words are kept."),
        "gone": _("This companion is not there any more."),
        "too_fast": _("That was very fast. Going on in a moment."),
        "not_sent": _("Not sent:"),
        "failed": _("That did not work. Try again in a moment."),
        "tool_recall": _("%(name)s is looking through what it remembers") % {"name": name},
        "tool_remember": _("%(name)s keeps this in memory") % {"name": name},
        "tool": _("%(name)s is looking something up") % {"name": name},
        "thinking": _("%(name)s is thinking") % {"name": name},
        "waiting": _("waits for the answer before it"),
        "says": _("%(name)s:") % {"name": name},
        "copied": _("Copied."),
        "reads_aloud": _("Answers are read aloud now."),
        "reads_silent": _("Answers are not read aloud any more."),
        "not_aloud": _(
            "This could not be read aloud just now. The words are all there; try again in a moment."
        ),
    }

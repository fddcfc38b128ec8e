"""What can keep Kith from starting.

UpError: one line for the person at the terminal; nothing else is shown.
"""


class UpError(Exception):
    """Kith cannot start or go on; its text is one full sentence that says why and what to do."""

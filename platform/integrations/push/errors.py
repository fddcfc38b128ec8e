"""What can go wrong with notifications.

PushError(code, detail)   the browser's subscription cannot be kept: wrong address or keys, too many, or none at all here
"""

from accounts.errors import RefusedError


class PushError(RefusedError):
    pass

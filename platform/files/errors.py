"""What may go wrong when something binary is kept or given back.

FilesError(code, detail)
├── ContentError        what was sent is not what it has to be, whatever its name and headers say (422)
├── TooLargeError       more bytes, or more pixels, than one thing can have (413)
├── NoRoomError         no room is left of what one person can store (409)
├── ContentLostError    the row is there, its content is not (404)
├── BusyError           others are being served; later it works (503)
└── StorageAwayError    the storage does not answer, or has no room itself; nothing of ours is lost (503)
"""

from accounts.errors import RefusedError


class FilesError(RefusedError):
    pass


class ContentError(FilesError):
    pass


class TooLargeError(FilesError):
    status = 413


class NoRoomError(FilesError):
    status = 409


class ContentLostError(FilesError):
    status = 404


class StorageAwayError(FilesError):
    status = 503


class BusyError(FilesError):
    status = 503

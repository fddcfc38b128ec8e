"""Errors of storing and serving files.

FilesError(code, detail)
├── ContentError        the content is not of the expected form, whatever its name and headers say (422)
├── TooLargeError       a file has more bytes, or a picture more pixels, than allowed (413)
├── NoRoomError         the person's quota is used up (409)
├── ContentLostError    the row exists, its content does not (404)
├── BusyError           the capacity is taken by others; a retry will work (503)
└── StorageAwayError    the storage does not answer, or is full itself; nothing is lost (503)
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

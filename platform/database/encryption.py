"""Secrets at rest: encrypted before they are kept, so that a copy of the database alone does not tell them.

Fernet (AES-128-CBC and HMAC-SHA256) by the keys of KITH_ENCRYPTION_KEY: the first encrypts, each decrypts.
"""

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class DecryptionError(Exception):
    """What was sealed was sealed with another key, or is damaged."""


def encrypt(plain: bytes) -> bytes:
    """Return the bytes encrypted with the newest key."""
    return _keys().encrypt(plain)


def decrypt(sealed: bytes | memoryview) -> bytes:
    """Return what was encrypted with any of the keys; DecryptionError where it was with none of them."""
    try:
        return _keys().decrypt(bytes(sealed))
    except InvalidToken as error:
        raise DecryptionError("KITH_ENCRYPTION_KEY holds no key that opens this.") from error


def _keys() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.ENCRYPTION_KEYS])

"""Encryption of secrets at rest, so that a copy of the database alone does not reveal them.

Fernet (AES-128-CBC and HMAC-SHA256) with the keys of KITH_ENCRYPTION_KEY: the first encrypts, all decrypt.
"""

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class DecryptionError(Exception):
    """The ciphertext is damaged, or was encrypted with a key that is not known."""


def encrypt(plain: bytes) -> bytes:
    """Return the bytes, encrypted with the newest key."""
    return _keys().encrypt(plain)


def decrypt(sealed: bytes | memoryview) -> bytes:
    """Return the decrypted bytes; raise DecryptionError if none of the keys decrypts them."""
    try:
        return _keys().decrypt(bytes(sealed))
    except InvalidToken as error:
        raise DecryptionError("KITH_ENCRYPTION_KEY holds no key that opens this.") from error


def _keys() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.ENCRYPTION_KEYS])

"""Secrets at rest: sealed before they are kept, so that a copy of the database alone does not tell them.

Fernet (AES-128-CBC and HMAC-SHA256) by the keys of KITH_ENCRYPTION_KEY: the first seals, each opens.
"""

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from accounts.errors import SealError


def seal(plain: bytes) -> bytes:
    """The bytes as they may be kept, sealed with the newest key."""
    return _keys().encrypt(plain)


def unseal(sealed: bytes | memoryview) -> bytes:
    """What was sealed with any of the keys; SealError where it was with none of them."""
    try:
        return _keys().decrypt(bytes(sealed))
    except InvalidToken as error:
        raise SealError("KITH_ENCRYPTION_KEY holds no key that opens this.") from error


def _keys() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.ENCRYPTION_KEYS])

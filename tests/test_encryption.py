"""What is sealed opens with its key alone, and keys can be changed."""

import base64

import pytest
from pytest_django import Settings

from database.encryption import DecryptionError, decrypt, encrypt

OLD, NEW = (base64.urlsafe_b64encode(bytes([number]) * 32).decode() for number in (1, 2))


@pytest.mark.parametrize("plain", [b"", b"\x00\xff", "地址".encode(), b"x" * 100_000])
def test_what_is_sealed_opens_and_does_not_show(plain: bytes) -> None:
    assert decrypt(encrypt(plain)) == plain
    assert encrypt(plain) != encrypt(plain)
    assert len(plain) < 4 or plain not in encrypt(plain)


def test_a_database_gives_it_back_as_a_view() -> None:
    assert decrypt(memoryview(encrypt(b"kept"))) == b"kept"


def test_a_new_key_seals_and_the_old_one_still_opens(settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [OLD]
    before = encrypt(b"kept")
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    assert decrypt(before) == b"kept"
    after = encrypt(b"kept")
    settings.ENCRYPTION_KEYS = [NEW]
    assert decrypt(after) == b"kept"
    with pytest.raises(DecryptionError, match="KITH_ENCRYPTION_KEY"):
        decrypt(before)


def test_what_was_changed_does_not_open() -> None:
    sealed = bytearray(encrypt(b"kept"))
    sealed[40] ^= 1
    for damaged in (bytes(sealed), bytes(sealed[:-1]), b"", b"kept", b"\x00"):
        with pytest.raises(DecryptionError):
            decrypt(damaged)

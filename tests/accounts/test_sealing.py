"""What is sealed opens with its key alone, and keys can be changed."""

import base64

import pytest
from pytest_django import Settings

from accounts.errors import SealError
from accounts.sealing import seal, unseal

OLD, NEW = (base64.urlsafe_b64encode(bytes([number]) * 32).decode() for number in (1, 2))


@pytest.mark.parametrize("plain", [b"", b"\x00\xff", "地址".encode(), b"x" * 100_000])
def test_what_is_sealed_opens_and_does_not_show(plain: bytes) -> None:
    assert unseal(seal(plain)) == plain
    assert seal(plain) != seal(plain)
    assert len(plain) < 4 or plain not in seal(plain)


def test_a_database_gives_it_back_as_a_view() -> None:
    assert unseal(memoryview(seal(b"kept"))) == b"kept"


def test_a_new_key_seals_and_the_old_one_still_opens(settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [OLD]
    before = seal(b"kept")
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    assert unseal(before) == b"kept"
    after = seal(b"kept")
    settings.ENCRYPTION_KEYS = [NEW]
    assert unseal(after) == b"kept"
    with pytest.raises(SealError, match="KITH_ENCRYPTION_KEY"):
        unseal(before)


def test_what_was_changed_does_not_open() -> None:
    sealed = bytearray(seal(b"kept"))
    sealed[40] ^= 1
    for damaged in (bytes(sealed), bytes(sealed[:-1]), b"", b"kept", b"\x00"):
        with pytest.raises(SealError):
            unseal(damaged)

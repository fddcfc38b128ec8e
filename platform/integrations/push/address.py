"""Where one browser is reached: what its push service gave it, and how that is kept sealed."""

import hashlib
from dataclasses import asdict, dataclass
from typing import Self

import orjson

from accounts.encryption import decrypt, encrypt


@dataclass(frozen=True, slots=True)
class Address:
    """Whoever knows the endpoint can send to it; whoever knows the keys can read what is sent."""

    endpoint: str
    p256dh: str
    auth: str

    def sealed(self) -> bytes:
        return encrypt(orjson.dumps(asdict(self)))

    @classmethod
    def opened(cls, sealed: bytes | memoryview) -> Self:
        """DecryptionError where it was sealed with another key."""
        return cls(**orjson.loads(decrypt(sealed)))

    @property
    def digest(self) -> str:
        """What tells endpoints apart without telling them: 64 characters."""
        return hashlib.sha256(self.endpoint.encode()).hexdigest()

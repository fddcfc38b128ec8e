"""The secrets that Kith makes for itself, kept in its data folder."""

import base64
import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path

from config.keys import P256_ORDER


def _vapid_key() -> str:
    """The number of a private key on P-256, as push tools write it: 32 bytes in base64url, without padding."""
    number = 1 + secrets.randbelow(P256_ORDER - 1)
    return base64.urlsafe_b64encode(number.to_bytes(32, "big")).decode().rstrip("=")


MAKERS: dict[str, Callable[[], str]] = {
    "SECRET_KEY": lambda: secrets.token_urlsafe(50),
    "KITH_ENCRYPTION_KEY": lambda: base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
    "KITH_VAPID_KEY": _vapid_key,
    "POSTGRES_PASSWORD": lambda: secrets.token_hex(32),
    "POSTGRES_ROLE_PASSWORD": lambda: secrets.token_hex(32),
    "REDIS_PASSWORD": lambda: secrets.token_hex(32),
}


def kept_secrets(home: Path) -> dict[str, str]:
    """Every secret by its name, from `home`/secrets (mode 600); what is missing there is made and kept."""
    path = home / "secrets"
    known = _read(path)
    missing = {name: make() for name, make in MAKERS.items() if name not in known}
    if missing:
        known |= missing
        write(path, known)
    return known


def _read(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    return dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line)


def write(path: Path, values: Mapping[str, str]) -> None:
    """Writes NAME=value lines that only this user may read, whole or not at all."""
    beside = path.with_suffix(".new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.writelines(f"{name}={value}\n" for name, value in values.items())
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)

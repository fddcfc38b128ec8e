"""The hosted services that Kith knows by name, from hosted.toml."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("hosted.toml")


@dataclass(frozen=True, slots=True)
class HostedService:
    """A hosted service: its address, and what Kith can use it for: chat, embedding, speech, transcription."""

    name: str
    base_url: str
    supports: tuple[str, ...]
    lists_models: bool = True


@cache
def load_hosted() -> tuple[HostedService, ...]:
    """Return the services in the table's order."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return tuple(
        HostedService(**{**service, "supports": tuple(service["supports"])}) for service in table["service"]
    )


def find_hosted(base_url: str) -> HostedService | None:
    """Return the known service at that address, or None if there is none."""
    return next((service for service in load_hosted() if service.base_url == base_url.rstrip("/")), None)

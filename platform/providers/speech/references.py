"""Voices that an operator has named: recordings to imitate. Their paths are the operator's, never a user's."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from providers.errors import ProviderRefused


@dataclass(frozen=True, slots=True)
class Reference:
    """A recording, what is said in it and in which language."""

    text: str
    path: str = ""
    language: str = ""
    content: bytes = b""

    def opened(self) -> "Reference":
        """The same with its content, from this machine; ProviderRefused where it cannot be read."""
        try:
            return replace(self, content=Path(self.path).read_bytes())
        except OSError as error:
            raise ProviderRefused(f"SPEECH_REFERENCES: {error}") from error


def references(wanted: Mapping[str, Any]) -> dict[str, Reference]:
    """The recordings of settings.SPEECH by the names of their voices."""
    return {
        name: Reference(one.get("text", ""), one.get("path", ""), one.get("language", ""))
        for name, one in wanted["references"].items()
    }

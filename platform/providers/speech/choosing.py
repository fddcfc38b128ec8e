"""Which engine speaks."""

import shutil
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from django.conf import settings

from providers.speech.engine import Engine
from providers.speech.espeak import PROGRAM, Espeak
from providers.speech.f5 import F5
from providers.speech.fish import Fish
from providers.speech.gpt_sovits import GptSovits
from providers.speech.open_ai import OpenAI

BROWSER = "browser"
ENGINES: Mapping[str, Callable[[Mapping[str, Any]], Engine]] = MappingProxyType(
    {"openai": OpenAI, "f5": F5, "fish": Fish, "gpt-sovits": GptSovits, "espeak": Espeak}
)


def engine_name() -> str:
    """`openai`, `f5`, `fish`, `gpt-sovits`, `espeak` or `browser`, by settings.SPEECH and what is installed."""
    wanted: str = settings.SPEECH["engine"]
    if wanted:
        return wanted
    if settings.SPEECH["base_url"]:
        return "openai"
    return "espeak" if shutil.which(PROGRAM) else BROWSER


def engine() -> Engine | None:
    """The engine of the settings as they are now; None where the browser speaks."""
    make = ENGINES.get(engine_name())
    return make(settings.SPEECH) if make else None

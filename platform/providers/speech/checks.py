"""System checks of how speech is asked for."""

import shutil
from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register

from providers.speech.choosing import BROWSER, ENGINES, engine_name
from providers.speech.espeak import PROGRAM

FORMATS = ("mp3", "wav", "opus", "aac", "flac")
IMITATORS = {"f5", "gpt-sovits"}


@register
def check_speech(**_: Any) -> list[CheckMessage]:
    """What is wrong with the settings of speech."""
    return list(_messages(settings.SPEECH, engine_name()))


def _messages(wanted: Mapping[str, Any], name: str) -> Iterator[CheckMessage]:
    known = (*ENGINES, BROWSER)
    if name not in known:
        yield Error(
            f"SPEECH_ENGINE is {name!r}.", hint=f"It is one of {', '.join(known)}.", id="providers.E004"
        )
    elif name not in {"espeak", BROWSER} and not wanted["base_url"]:
        yield Error(
            f"SPEECH_ENGINE is {name}, and it has no address.",
            hint="Set SPEECH_BASE_URL.",
            id="providers.E005",
        )
    if wanted["format"] not in FORMATS:
        hint = f"It is one of {', '.join(FORMATS)}."
        yield Error(f"SPEECH_FORMAT is {wanted['format']!r}.", hint=hint, id="providers.E006")
    if not _are_references(wanted["references"]):
        hint = """Write an object, such as SPEECH_REFERENCES='{"Mira": {"path": "/srv/mira.wav", "text": "Hello."}}'."""
        yield Error("SPEECH_REFERENCES is in another form.", hint=hint, id="providers.E007")
    elif name in IMITATORS and not wanted["references"]:
        hint = "Set SPEECH_REFERENCES."
        yield Warning(
            f"{name} has no recording to imitate and will be silent.", hint=hint, id="providers.W002"
        )
    if name == "espeak" and not shutil.which(PROGRAM):
        hint = "Install it (Debian: apt-get install espeak-ng), or leave SPEECH_ENGINE empty."
        yield Warning(f"SPEECH_ENGINE is espeak, and {PROGRAM} is not there.", hint=hint, id="providers.W003")


def _are_references(given: object) -> bool:
    """Whether each name has an object of texts, its path among them."""
    if not isinstance(given, Mapping):
        return False
    every = list(given.values())
    return all(isinstance(one, Mapping) and one.get("path") for one in every) and all(
        isinstance(text, str) for one in every for text in one.values()
    )

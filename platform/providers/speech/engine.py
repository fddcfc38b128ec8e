"""What an engine is asked, and what every engine can be asked."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Wanted:
    """One sentence and how it is to sound. What an engine cannot do it leaves out.

    `voice` is a name of Engine.voices, empty for the engine's own. `language` is a tag such as `en` or `zh-hans`,
    empty where it is not known; the script of the text goes before it. `speed` is 0.5 to 2. `emotion` is a name of
    memory.emotion.Emotion in small letters, `intensity` 0 to 1. `reference` is a WAV file of somebody who agreed to
    be imitated, `reference_text` what is said in it.
    """

    text: str
    voice: str = ""
    language: str = ""
    speed: float = 1.0
    emotion: str = "neutral"
    intensity: float = 0.0
    reference: bytes | None = None
    reference_text: str = ""


class Engine(Protocol):
    """One engine as the settings describe it; its calls may be made in any event loop, and left at any moment.

    Raises ProviderUnavailable and ProviderRefused, and nothing else of a provider's.
    """

    @property
    def name(self) -> str:
        """One of `openai`, `f5`, `fish`, `gpt-sovits`, `espeak`."""

    @property
    def model(self) -> str:
        """Which model is asked; empty where the engine has but one."""

    @property
    def place(self) -> str:
        """Where it is asked: an address, or the name of a program of this machine."""

    @property
    def shows_emotion(self) -> bool:
        """Whether `emotion` and `intensity` change how a sentence sounds."""

    @property
    def takes_reference(self) -> bool:
        """Whether it imitates a reference recording that comes with the sentence."""

    async def voices(self) -> list[str]:
        """The names that a voice may have, the engine's own first."""

    async def speak(self, wanted: Wanted) -> bytes:
        """The sentence as a file of sound, as it came; not looked at yet (see saying.said)."""

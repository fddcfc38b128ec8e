"""What there is to choose from: the engine, its voices, and what it can do."""

from dataclasses import dataclass

from providers.errors import ProviderError
from providers.speech import engine, engine_name


@dataclass(frozen=True, slots=True)
class Offer:
    """The engine that speaks here: its name, the names of its voices, none where it does not answer."""

    engine: str
    voices: list[str]
    takes_reference: bool = False
    is_away: bool = False

    @property
    def is_browser(self) -> bool:
        return self.engine == "browser"


async def offer() -> Offer:
    """What the engine of the settings offers now."""
    speaking = engine()
    if speaking is None:
        return Offer(engine_name(), [])
    try:
        voices = await speaking.voices()
    except ProviderError:
        return Offer(speaking.name, [], speaking.takes_reference, is_away=True)
    return Offer(speaking.name, voices, speaking.takes_reference)

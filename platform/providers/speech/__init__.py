"""Speech: a sentence as sound, from whichever engine the settings name."""

from providers.speech.choosing import engine, engine_name
from providers.speech.engine import Engine, Wanted
from providers.speech.saying import said

__all__ = ["Engine", "Wanted", "engine", "engine_name", "said"]

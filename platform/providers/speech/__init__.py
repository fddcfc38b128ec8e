"""Speech: a sentence as sound, made by the engine in force."""

from providers.speech.engine import Engine, SpeechRequest
from providers.speech.synthesis import get_engine, get_engine_name, synthesise

__all__ = ["Engine", "SpeechRequest", "get_engine", "get_engine_name", "synthesise"]

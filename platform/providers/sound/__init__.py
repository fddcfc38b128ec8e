"""Sound: read from any usual container, weighed, and written. Samples are numbers; nothing here knows whose they are."""

from providers.sound.decoding import read
from providers.sound.encoding import GENERATED, mp3
from providers.sound.errors import SoundError
from providers.sound.isolated import read_isolated
from providers.sound.sound import Sound
from providers.sound.wav import wav

__all__ = ["GENERATED", "Sound", "SoundError", "mp3", "read", "read_isolated", "wav"]

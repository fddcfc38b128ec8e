"""Sound: read from any usual container, weighed, and written. Samples are numbers; nothing here knows whose they are."""

from providers.sound.apart import read_apart
from providers.sound.errors import SoundError
from providers.sound.marks import GENERATED
from providers.sound.reading import read
from providers.sound.sound import Sound
from providers.sound.writing import mp3, wav

__all__ = ["GENERATED", "Sound", "SoundError", "mp3", "read", "read_apart", "wav"]

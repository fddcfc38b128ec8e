"""Sound: decoding the usual containers, measuring loudness, and encoding. Nothing here knows whose sound it is."""

from providers.sound.codecs import GENERATED, mp3, read, read_isolated
from providers.sound.sound import Sound, SoundError, read_plain_wav, wav

__all__ = ["GENERATED", "Sound", "SoundError", "mp3", "read", "read_isolated", "read_plain_wav", "wav"]

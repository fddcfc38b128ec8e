"""Sound: decoding the usual containers, measuring loudness, and encoding. Nothing here knows whose sound it is."""

from providers.sound.codecs import GENERATED, encode_mp3, read, read_isolated
from providers.sound.sound import Sound, SoundError, encode_wav

__all__ = ["GENERATED", "Sound", "SoundError", "encode_mp3", "encode_wav", "read", "read_isolated"]

from voice.models.recording import Recording
from voice.models.speech import Speech, Spoken
from voice.models.voice import Voice

__all__ = ["Recording", "Speech", "Spoken", "Voice"]

"""Speaking: a reply's sentences as sound, each as soon as it is complete.

following   the sentence of a number, waited for while its reply is made
tone        what makes a companion's voice, and the digest under which a sentence is found again
sharing     one making of the same thing for all who ask meanwhile, given up when nobody waits any more
making      the engine's work: at most so many at once, let in by the gate, counted, marked as generated
keeping     rows and files of what was made
leaving     what goes when its words go, and what is swept
whole       a text of one's own from its beginning to its end
"""

from voice.speaking.speaking import Aloud, speech_of

__all__ = ["Aloud", "speech_of"]
